"use strict";
// Everything that is shown from the data is set as text, never as markup.
(() => {
  const token = new URLSearchParams(location.search).get("token");
  const get = (id) => document.getElementById(id);
  const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
  const visible = (text) =>
    text.replace(CONTROL, (sign) => (sign < " " ? String.fromCharCode(0x2400 + sign.charCodeAt(0)) : "\ufffd"));
  const make = (tag, className, text) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = visible(text);
    return element;
  };

  let sample;
  let marks;
  let place = 0;

  const drawText = (pieces, letter) => {
    const text = make("span", "text");
    text.dir = "auto";
    if (letter) text.dataset.letter = letter;
    for (const [kind, piece] of pieces) text.append(kind === "same" ? visible(piece) : make("mark", "", piece));
    return text;
  };

  const draw = () => {
    const pair = sample.pairs[place];
    const parts = [];
    for (const column of sample.columns) {
      const versions = pair.texts[column];
      const group = make("div", "group");
      group.append(make("span", "column", column));
      versions.forEach((pieces, i) => group.append(drawText(pieces, versions.length > 1 ? "AB"[i] : "")));
      parts.push(group);
    }
    if (pair.label !== undefined) {
      const label = make("p", "", "label: ");
      label.append(make("bdi", "", pair.label));
      parts.push(label);
    }
    get("pair").replaceChildren(...parts);
    const mark = marks.get(pair.item);
    for (const name of ["sound", "unsound"]) get(name).setAttribute("aria-pressed", String(mark === name));
    get("progress").max = sample.pairs.length;
    get("progress").value = marks.size - nUnsaved;
    get("status").textContent =
      `Pair ${place + 1} of ${sample.pairs.length}, ${mark ?? "without a mark"}; ${marks.size - nUnsaved} marked` +
      (nUnsaved ? `, ${nUnsaved} on the way.` : ".") +
      (marks.size - nUnsaved === sample.pairs.length ? " All are marked: thank you." : "");
    get("previous").disabled = place === 0;
    get("next").disabled = place === sample.pairs.length - 1;
  };

  const go = (to) => {
    place = Math.min(sample.pairs.length - 1, Math.max(0, to));
    draw();
  };

  const nextUnmarked = (from) => {
    for (let step = 0; step < sample.pairs.length; step++) {
      const at = (from + step) % sample.pairs.length;
      if (!marks.has(sample.pairs[at].item)) return at;
    }
    return Math.min(from, sample.pairs.length - 1);
  };

  // One after the other, so that the last mark given is the last one kept.
  let sending = Promise.resolve();
  let nUnsaved = 0;
  const send = (item, mark) => {
    nUnsaved++;
    sending = sending.then(async () => {
      const answer = await fetch("/mark", {
        method: "POST",
        keepalive: true,
        headers: { "X-Token": token, "Content-Type": "application/json" },
        body: JSON.stringify({ item, mark }),
      });
      if (!answer.ok) throw new Error((await answer.json()).error);
      get("trouble").textContent = "";
    });
    return sending.finally(() => {
      nUnsaved--;
      draw();
    });
  };
  window.addEventListener("beforeunload", (event) => {
    if (nUnsaved) event.preventDefault();
  });

  const give = async (mark) => {
    const { item } = sample.pairs[place];
    const before = marks.get(item);
    if (mark === null) marks.delete(item);
    else marks.set(item, mark);
    if (mark === null) draw();
    else go(nextUnmarked(place + 1));
    try {
      await send(item, mark);
    } catch (error) {
      // A mark that is not kept is not shown.
      sending = Promise.resolve();
      if (before === undefined) marks.delete(item);
      else marks.set(item, before);
      go(sample.pairs.findIndex((pair) => pair.item === item));
      get("trouble").textContent = `The mark could not be kept: ${error.message}`;
    }
  };

  const actions = {
    sound: () => give("sound"),
    unsound: () => give("unsound"),
    clear: () => give(null),
    previous: () => go(place - 1),
    next: () => go(place + 1),
    unmarked: () => go(nextUnmarked(place + 1)),
  };
  const keys = {
    s: "sound", u: "unsound", Delete: "clear", Backspace: "clear", ArrowLeft: "previous", ArrowRight: "next", n: "unmarked",
  };

  const start = async () => {
    const answer = await fetch(`/sample?token=${encodeURIComponent(token)}`);
    if (!answer.ok) throw new Error((await answer.json()).error);
    sample = await answer.json();
    marks = new Map(Object.entries(sample.marks).map(([item, mark]) => [Number(item), mark]));
    get("who").textContent = visible(sample.person);
    get("asked").textContent = visible(sample.asked);
    for (const [id, act] of Object.entries(actions)) get(id).addEventListener("click", act);
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
      event.preventDefault();
      // A key that is held down leafs, but marks nothing that nobody has read.
      if (event.repeat && !["previous", "next"].includes(keys[event.key])) return;
      actions[keys[event.key]]();
    });
    go(nextUnmarked(0));
  };
  start().catch((error) => {
    get("status").textContent = "";
    get("trouble").textContent = `The sample cannot be shown: ${error.message}`;
  });
})();
