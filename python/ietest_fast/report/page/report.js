"use strict";
// Everything that is shown from the data is set as text, never as markup.
(() => {
  const unpack = async (base64) => {
    const packed = atob(base64.trim());
    const bytes = new Uint8Array(packed.length);
    for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  };

  const make = (tag, className, text) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };

  // Control characters draw nothing; signs that stand for them do.
  const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
  const visible = (text) =>
    text.replace(CONTROL, (sign) => (sign < " " ? String.fromCharCode(0x2400 + sign.charCodeAt(0)) : "\ufffd"));

  /** The observations of one test set. */
  class Pairs {
    constructor(described, bytes) {
      Object.assign(this, described);
      let offset = 0;
      const take = (length) => bytes.subarray(offset, (offset += length));
      this.gold = take(this.n);
      this.changed = take(this.n);
      for (const run of this.runs) {
        run.hardness = take(this.n);
        run.answers = take(this.n * run.rho.length * run.m * 2);
      }
      this.editsOf = Array.from({ length: this.n }, () => []);
      this.edits.row.forEach((row, i) => this.editsOf[row].push(i));
      this.flips = new Uint16Array(this.n);
      this.nClassifiers = 0;
      for (const run of this.runs) {
        const each = run.rho.length * run.m;
        this.nClassifiers += each;
        for (let row = 0, at = 0; row < this.n; row++) {
          for (let c = 0; c < each; c++, at += 2) {
            if (run.answers[at] !== run.answers[at + 1]) this.flips[row]++;
          }
        }
      }
      this.haystack = null;
    }

    /** Labels of a row's two versions, by a classifier: of the chosen rho, or null. */
    answer(run, row, rho, m) {
      const place = run.rho.indexOf(rho);
      if (place < 0 || m >= run.m) return null;
      const at = ((row * run.rho.length + place) * run.m + m) * 2;
      return [run.answers[at], run.answers[at + 1]];
    }

    kind(run, row, rho, m) {
      const found = this.answer(run, row, rho, m);
      if (!found) return "none";
      const [before, after] = found;
      if (before === after) return "same";
      if (before === this.gold[row]) return "lost";
      return after === this.gold[row] ? "won" : "other";
    }

    /** A text as pieces of [what was done to it, text]: "keep", "old" or "new". */
    pieces(row, column) {
      const text = this.texts[column][row];
      const pieces = [];
      let at = 0;
      for (const i of this.editsOf[row]) {
        if (this.edits.column[i] !== column) continue;
        pieces.push(["keep", text.slice(at, this.edits.start[i])]);
        pieces.push(["old", text.slice(this.edits.start[i], this.edits.end[i]), i]);
        pieces.push(["new", this.edits.new[i], i]);
        at = this.edits.end[i];
      }
      pieces.push(["keep", text.slice(at)]);
      return pieces;
    }

    version(row, column, isOriginal) {
      const skipped = isOriginal ? "new" : "old";
      return this.pieces(row, column).map(([kind, text]) => (kind === skipped ? "" : text)).join("");
    }

    /** What a search looks through, made when it is first needed. */
    searchable() {
      if (!this.haystack) {
        this.haystack = Array.from({ length: this.n }, (_, row) =>
          this.columns
            .map((_, column) => `${this.version(row, column, true)}\n${this.version(row, column, false)}`)
            .join("\n")
            .toLowerCase());
      }
      return this.haystack;
    }

    /** Whether an edit of the row has a word in the old or the new text, or is by that rule. */
    hasEdit(row, wanted) {
      // As the tables have it: "sofa → couch" is that edit and no other.
      const parts = wanted.split(/\s*(?:→|->)\s*/);
      if (parts.length === 2) {
        return this.editsOf[row].some((i) => {
          const text = this.texts[this.edits.column[i]][row];
          const old = visible(text.slice(this.edits.start[i], this.edits.end[i])).toLowerCase();
          const own = [old, visible(this.edits.new[i]).toLowerCase()];
          return parts.every((part, place) => !part || own[place] === part);
        });
      }
      return this.editsOf[row].some((i) => {
        const column = this.edits.column[i];
        const old = this.texts[column][row].slice(this.edits.start[i], this.edits.end[i]);
        return (
          this.edits.rules[this.edits.rule[i]] === wanted ||
          old.toLowerCase().includes(wanted) ||
          this.edits.new[i].toLowerCase().includes(wanted)
        );
      });
    }
  }

  /** The table of examples: filters, order, pages. */
  class Browser {
    constructor(root, pairs) {
      this.root = root;
      this.pairs = pairs;
      this.form = root.querySelector("form");
      this.page = 0;
      this.fillForm();
      this.drawHead();
      let waiting = 0;
      const later = (milliseconds) => {
        root.setAttribute("aria-busy", "true");
        clearTimeout(waiting);
        waiting = setTimeout(() => this.update(), milliseconds);
      };
      this.form.addEventListener("input", () => later(120));
      this.form.addEventListener("submit", (event) => event.preventDefault());
      // The fields have their first values only behind the event.
      this.form.addEventListener("reset", () => later(0));
      for (const button of root.querySelectorAll("[data-page]")) {
        button.addEventListener("click", () => this.turn(button.dataset.page));
      }
      this.update();
    }

    fillForm() {
      const { pairs, form } = this;
      const add = (select, value, text) => {
        const option = make("option", "", visible(text));
        option.value = value;
        select.append(option);
      };
      pairs.labels.forEach((name, label) => add(form.elements.label, label, name));
      pairs.runs.forEach((run, place) => add(form.elements.model, place, run.name));
      const rhos = [...new Set(pairs.runs.flatMap((run) => run.rho))].sort((a, b) => a - b);
      rhos.forEach((rho) => add(form.elements.rho, rho, String(rho)));
      const most = Math.max(...pairs.runs.map((run) => run.m));
      for (let m = 0; m < most; m++) add(form.elements.m, m, String(m));
      pairs.quantifiers.forEach((title, bit) => add(form.elements.quantifier, bit, title));
      const models = form.querySelector(".models");
      pairs.runs.forEach((run, place) => {
        const label = make("label");
        const box = make("input");
        box.type = "checkbox";
        box.name = "hard-model";
        box.value = place;
        box.defaultChecked = true;
        label.append(box, ` ${visible(run.name)}`);
        models.append(label);
      });
    }

    drawHead() {
      const row = make("tr");
      for (const name of ["row", "original → transformed", "label", ...this.pairs.runs.map((run) => run.name), "flips"]) {
        const cell = make("th", "", visible(name));
        cell.scope = "col";
        row.append(cell);
      }
      this.root.querySelector("thead").replaceChildren(row);
    }

    choice() {
      const value = (name) => this.form.elements[name].value;
      return {
        search: /→|->/.test(value("search")) ? "" : value("search").toLowerCase(),
        edits: ["search", "edit"]
          .filter((name) => name === "edit" || /→|->/.test(value(name)))
          .map((name) => value(name).trim().toLowerCase())
          .filter((wanted) => wanted),
        label: value("label") === "" ? null : Number(value("label")),
        runs: value("model") === "" ? this.pairs.runs : [this.pairs.runs[Number(value("model"))]],
        flip: value("flip"),
        rho: Number(value("rho")),
        m: Number(value("m")),
        changed: value("changed") === "" ? null : Number(value("changed")),
        sort: value("sort"),
        falling: value("order") === "down",
        size: Number(value("size")),
        hard: this.form.elements.hard.checked,
        bit: 1 << Number(value("quantifier")),
        hardRuns: [...this.form.querySelectorAll("[name=hard-model]")]
          .filter((box) => box.checked)
          .map((box) => this.pairs.runs[Number(box.value)]),
      };
    }

    fits(row, choice) {
      const { pairs } = this;
      if (choice.label !== null && pairs.gold[row] !== choice.label) return false;
      if (choice.changed !== null && pairs.changed[row] !== choice.changed) return false;
      if (choice.hard && !choice.hardRuns.every((run) => run.hardness[row] & choice.bit)) return false;
      if (choice.flip) {
        const kinds = choice.runs.map((run) => pairs.kind(run, row, choice.rho, choice.m));
        const wanted = (kind) =>
          choice.flip === "flip" ? ["lost", "won", "other"].includes(kind) : kind === choice.flip;
        // "Not flipped" by any model is: by none of them.
        if (!(choice.flip === "same" ? kinds.every(wanted) : kinds.some(wanted))) return false;
      }
      if (choice.search && !pairs.searchable()[row].includes(choice.search)) return false;
      return choice.edits.every((wanted) => pairs.hasEdit(row, wanted));
    }

    update() {
      const { pairs } = this;
      this.now = this.choice();
      const found = [];
      for (let row = 0; row < pairs.n; row++) if (this.fits(row, this.now)) found.push(row);
      const by = {
        row: (row) => row,
        flips: (row) => pairs.flips[row],
        edits: (row) => pairs.editsOf[row].length,
        length: (row) => pairs.texts.reduce((total, column) => total + column[row].length, 0),
      }[this.now.sort];
      const sign = this.now.falling ? -1 : 1;
      found.sort((a, b) => sign * (by(a) - by(b)) || a - b);
      this.found = found;
      this.page = 0;
      this.draw();
      this.root.setAttribute("aria-busy", "false");
    }

    turn(where) {
      const last = Math.max(0, Math.ceil(this.found.length / this.now.size) - 1);
      const pages = { first: 0, previous: this.page - 1, next: this.page + 1, last };
      this.page = Math.min(last, Math.max(0, pages[where]));
      this.draw();
    }

    draw() {
      const { size } = this.now;
      const nPages = Math.max(1, Math.ceil(this.found.length / size));
      const rows = this.found.slice(this.page * size, (this.page + 1) * size);
      this.root.querySelector("tbody").replaceChildren(...rows.map((row) => this.drawRow(row)));
      this.root.querySelector(".status").textContent =
        `${this.found.length.toLocaleString("en")} of ${this.pairs.n.toLocaleString("en")} observations` +
        (this.now.hard && !this.now.hardRuns.length ? " (no model is chosen for hard cases)" : "");
      this.root.querySelector(".where").textContent = `page ${this.page + 1} of ${nPages}`;
      for (const button of this.root.querySelectorAll("[data-page]")) {
        const back = ["first", "previous"].includes(button.dataset.page);
        button.disabled = back ? this.page === 0 : this.page >= nPages - 1;
      }
    }

    drawRow(row) {
      const { pairs } = this;
      const line = make("tr");
      line.dataset.row = row;
      const cell = (name, className) => {
        const made = make("td", className);
        made.dataset.name = visible(name);
        line.append(made);
        return made;
      };
      cell("row").textContent = row;
      const texts = cell("texts");
      texts.removeAttribute("data-name");
      pairs.columns.forEach((name, column) => texts.append(this.drawText(row, column, name)));
      cell("label").append(make("bdi", "", visible(pairs.labels[pairs.gold[row]])));
      for (const run of pairs.runs) {
        const found = pairs.answer(run, row, this.now.rho, this.now.m);
        const own = cell(run.name, "answer");
        if (!found) {
          own.textContent = "–";
          continue;
        }
        const [before, after] = found;
        own.append(this.drawLabel(before, row));
        if (before !== after) {
          own.append(" → ", this.drawLabel(after, row));
          own.classList.add("flipped");
        }
      }
      cell("flips").textContent = `${pairs.flips[row]} of ${pairs.nClassifiers}`;
      return line;
    }

    drawLabel(label, row) {
      const isRight = label === this.pairs.gold[row];
      const made = make("span", isRight ? "right" : "wrong", visible(this.pairs.labels[label]));
      made.append(make("span", "hidden", isRight ? " (right)" : " (wrong)"));
      return made;
    }

    drawText(row, column, name) {
      const { pairs } = this;
      const group = make("span", "group");
      group.append(make("span", "column", visible(name)));
      const pieces = pairs.pieces(row, column);
      const isChanged = pieces.length > 1;
      for (const version of isChanged ? ["old", "new"] : ["old"]) {
        const text = make("span", `text ${version}`);
        text.dir = "auto";
        for (const [kind, piece, edit] of pieces) {
          if (piece === "" || (kind !== "keep" && kind !== version)) continue;
          if (kind === "keep") {
            text.append(visible(piece));
            continue;
          }
          const mark = make(kind === "old" ? "del" : "ins", "", visible(piece));
          mark.title = pairs.edits.rules[pairs.edits.rule[edit]];
          text.append(mark);
        }
        group.append(text);
      }
      return group;
    }
  }

  /** Items with their wordings beneath each other: filters, order, pages. */
  class Wordings {
    constructor(root, described) {
      Object.assign(this, described);
      this.root = root;
      this.form = root.querySelector("form");
      this.page = 0;
      const add = (select, value, text) => {
        const option = make("option", "", visible(text));
        option.value = value;
        select.append(option);
      };
      this.models.forEach((name, place) => add(this.form.elements.model, place, name));
      const golds = [...new Set(this.items.map((item) => item.gold).filter((gold) => gold !== null))];
      golds.sort().forEach((gold) => add(this.form.elements.gold, gold, gold));
      for (const item of this.items) {
        item.search = [item.item, ...item.rows.flatMap((row) => row[1])].join("\n").toLowerCase();
      }
      // Few models have a column each; more stand beneath each other.
      this.apart = this.models.length > 1 && this.models.length < 5;
      if (this.apart) {
        const last = root.querySelector("thead th:last-child");
        last.replaceWith(...this.models.map((name) => {
          const head = make("th", "", visible(name));
          head.scope = "col";
          return head;
        }));
      }
      let waiting = 0;
      const later = (milliseconds) => {
        clearTimeout(waiting);
        waiting = setTimeout(() => {
          this.page = 0;
          this.draw();
        }, milliseconds);
      };
      this.form.addEventListener("input", () => later(120));
      this.form.addEventListener("submit", (event) => event.preventDefault());
      this.form.addEventListener("reset", () => later(0));
      for (const button of root.querySelectorAll("[data-page]")) {
        button.addEventListener("click", () => {
          this.page += button.dataset.page === "next" ? 1 : -1;
          this.draw();
        });
      }
      this.draw();
    }

    /** What a model does on an item: counts of its answers, and which kinds hold. */
    judge(item, model) {
      const given = item.rows.filter((row) => row[2][model]);
      const original = given.find((row) => row[0] === "original");
      const others = given.filter((row) => row[0] !== "original").map((row) => row[2][model]);
      const right = others.reduce((sum, answer) => sum + answer[1], 0);
      const n = others.length;
      return {
        n,
        right,
        split: right > 0 && right < n,
        differ: others.some((answer) => answer[0] !== others[0][0] || answer[1] !== others[0][1]),
        flip: Boolean(original) && others.some((answer) =>
          answer[0] !== original[2][model][0] || answer[1] !== original[2][model][1]),
        allRight: n > 0 && right === n,
        allWrong: n > 0 && right === 0,
      };
    }

    choose() {
      const { search, model, kind, gold, sort } = this.form.elements;
      const wanted = search.value.trim().toLowerCase();
      const test = { right: "allRight", wrong: "allWrong" }[kind.value] ?? kind.value;
      const found = [];
      for (const item of this.items) {
        const own = this.judge(item, Number(model.value));
        if (!own.n || (test && !own[test])) continue;
        if (gold.value && item.gold !== gold.value) continue;
        if (wanted && !item.search.includes(wanted)) continue;
        found.push([item, own.right / own.n, own]);
      }
      if (sort.value === "even") found.sort((a, b) => Math.abs(a[1] - 0.5) - Math.abs(b[1] - 0.5));
      if (sort.value === "share") found.sort((a, b) => a[1] - b[1]);
      return found;
    }

    draw() {
      const found = this.choose();
      const size = Number(this.form.elements.size.value);
      const last = Math.max(0, Math.ceil(found.length / size) - 1);
      this.page = Math.min(Math.max(this.page, 0), last);
      const shown = found.slice(this.page * size, (this.page + 1) * size);
      const body = this.root.querySelector("tbody");
      body.replaceChildren(...shown.flatMap(([item, , own]) => this.drawItem(item, own)));
      this.root.querySelector(".status").textContent =
        `${found.length.toLocaleString("en")} of ${this.items.length.toLocaleString("en")} items`;
      this.root.querySelector(".where").textContent = `Page ${this.page + 1} of ${last + 1}`;
      this.root.querySelector("[data-page=previous]").disabled = this.page === 0;
      this.root.querySelector("[data-page=next]").disabled = this.page === last;
    }

    drawItem(item, own) {
      const first = item.rows[0];
      return item.rows.map((row, place) => {
        const line = make("tr", place ? "" : "first");
        const name = make("td");
        if (place === 0) {
          name.append(make("bdi", "", visible(item.item)));
          if (item.gold !== null) name.append(make("span", "small", `right: ${visible(item.gold)}`));
          name.append(make("span", "small", `${own.right} of ${own.n} paraphrases right`));
        }
        line.append(name, this.drawTexts(row, place ? first : null), ...this.drawAnswers(row));
        return line;
      });
    }

    /** The texts of a wording; what is as in the first one stands there. */
    drawTexts(row, first) {
      const cell = make("td");
      const shown = this.columns.map((column, at) => [column, row[1][at], first && first[1][at]])
        .filter(([, text, before]) => text !== null && text !== before);
      const inOne = this.columns.length > 1 && shown.length === 1;
      cell.append(make("span", "column", visible(inOne ? `${row[0]}, ${shown[0][0]}` : row[0])));
      for (const [column, text] of shown) {
        const group = make("span", "group");
        if (this.columns.length > 1 && !inOne) group.append(make("span", "column", visible(column)));
        const words = make("span", "text", visible(text));
        words.dir = "auto";
        group.append(words);
        cell.append(group);
      }
      return cell;
    }

    /** A cell for each model, or one for all. */
    drawAnswers(row) {
      const made = row[2].map((answer, model) => {
        if (!answer) return null;
        const [label, isRight, sure] = answer;
        const given = make("span", isRight ? "right" : "wrong");
        given.append(visible(label ?? (isRight ? "right" : "wrong")));
        given.append(make("span", "hidden", isRight ? " (right)" : " (wrong)"));
        const whole = make("div");
        if (this.models.length > 1 && !this.apart) {
          whole.append(make("span", "column", visible(this.models[model])));
        }
        whole.append(given);
        if (sure !== null) whole.append(make("span", "sure", ` (${sure.toFixed(2)})`));
        return whole;
      });
      if (!this.apart) {
        const cell = make("td", "answer");
        cell.append(...made.filter(Boolean));
        return [cell];
      }
      return made.map((whole, model) => {
        const cell = make("td", "answer");
        if (whole) {
          cell.dataset.name = visible(this.models[model]);
          cell.append(whole);
        }
        return cell;
      });
    }
  }

  /** Show a point's values beside the pointer at once; the browser's own title takes its time. */
  const showHints = () => {
    const tip = make("div", "tip");
    tip.hidden = true;
    tip.setAttribute("aria-hidden", "true");
    document.body.append(tip);
    document.addEventListener("pointermove", (event) => {
      const hint = event.target instanceof Element ? event.target.closest(".hint") : null;
      tip.hidden = !hint;
      if (!hint) return;
      tip.textContent = hint.querySelector("title").textContent;
      tip.style.left = `${Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8)}px`;
      tip.style.top = `${event.clientY + 14}px`;
    });
  };

  /** On paper nothing can be unfolded. */
  const unfoldForPrint = () => {
    let folded = [];
    window.addEventListener("beforeprint", () => {
      folded = [...document.querySelectorAll("details:not([open])")];
      for (const details of folded) details.open = true;
    });
    window.addEventListener("afterprint", () => {
      for (const details of folded) details.open = false;
    });
  };

  const start = async () => {
    showHints();
    unfoldForPrint();
    for (const root of document.querySelectorAll(".wordings")) {
      try {
        const items = await unpack(root.querySelector("[data-part=items]").textContent);
        root.browser = new Wordings(root, JSON.parse(new TextDecoder().decode(items)));
        root.dataset.ready = "yes";
      } catch (error) {
        root.querySelector(".status").textContent = `The items cannot be shown: ${error.message}`;
        throw error;
      }
    }
    for (const root of document.querySelectorAll(".examples")) {
      const part = (name) => unpack(root.querySelector(`[data-part=${name}]`).textContent);
      try {
        const [texts, answers] = await Promise.all([part("texts"), part("answers")]);
        const described = JSON.parse(new TextDecoder().decode(texts));
        root.browser = new Browser(root, new Pairs(described, answers));
        root.dataset.ready = "yes";
      } catch (error) {
        root.querySelector(".status").textContent = `The examples cannot be shown: ${error.message}`;
        throw error;
      }
    }
  };
  start();
})();
