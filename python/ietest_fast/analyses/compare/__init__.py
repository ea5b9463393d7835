"""Versions compared with the reference: the paired test of each, further statistics, the page."""
