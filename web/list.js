/*
 * list - a windowed list: only the rows that can be seen are elements, however many there are.
 *
 *     const l = new List({ label, height: 44, row: (item, el) => …, key: (item) => id, open: (item) => … });
 *     l.show(length, (i) => item);
 *
 * Rows have one height. Arrow keys, Home, End and Page move the focus, Enter opens. When rows come
 * before the first one and the list is scrolled, what is seen stays where it is.
 */
import { h } from './dom.js';

const SPARE = 6;

export class List {
  constructor({ label, height, row, key, open, near, of = 'list' }) {
    Object.assign(this, { height, row, key, open, near });
    this.length = 0;
    this.item = () => undefined;
    this.rows = new Map();
    this.focused = null;
    this.space = h('div', { class: 'list-space', role: 'presentation' });
    this.el = h('div', { class: 'list', role: 'listbox', tabindex: '0', 'aria-label': label, onscroll: () => this.later(), onkeydown: (e) => this.keys(e) }, this.space);
    new ResizeObserver(() => this.later()).observe(this.el);
  }

  /* `added`: so many came before the first row. */
  show(length, item, added = 0) {
    this.length = length;
    this.item = item;
    if (added && this.el.scrollTop > this.height) this.el.scrollTop += added * this.height;
    if (this.focused !== null && added) this.focused += added;
    this.later();
  }

  later() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.draw();
    });
  }

  draw() {
    const top = this.el.scrollTop, room = this.el.clientHeight || 600;
    const from = Math.max(0, Math.floor(top / this.height) - SPARE);
    const to = Math.min(this.length, Math.ceil((top + room) / this.height) + SPARE);
    const total = this.length * this.height + 'px';
    if (this.space.style.height !== total) this.space.style.height = total;
    const old = this.rows;
    this.rows = new Map();
    for (let i = from; i < to; i++) {
      const item = this.item(i);
      if (item === undefined) continue;
      const id = this.key(item);
      let r = old.get(id);
      if (r) old.delete(id);
      else {
        r = { el: h('div', { class: 'row', role: 'option', id: 'r-' + String(id).replace(/[^\w-]/g, '_') }) };
        r.el.addEventListener('click', () => { this.focused = r.i; this.open && this.open(r.item); });
        this.space.append(r.el);
      }
      if (r.item !== item || r.again !== this.again) {
        r.item = item;
        r.again = this.again;
        r.el.replaceChildren();
        r.el.className = 'row';
        this.row(item, r.el);
      }
      if (r.i !== i) r.el.style.transform = `translateY(${i * this.height}px)`;
      r.i = i;
      r.el.setAttribute('aria-posinset', i + 1);
      r.el.setAttribute('aria-setsize', this.length);
      const is = id === this.chosen;
      r.el.setAttribute('aria-selected', is);
      r.el.classList.toggle('focused', i === this.focused);
      if (i === this.focused) this.el.setAttribute('aria-activedescendant', r.el.id);
      this.rows.set(id, r);
    }
    for (const r of old.values()) r.el.remove();
    if (this.near && to > this.length - 30) this.near();
  }

  choose(id) {
    this.chosen = id;
    this.later();
  }

  /* All rows anew: their words changed. */
  refresh() {
    this.again = {};
    this.later();
  }

  keys(e) {
    const page = Math.max(1, Math.floor(this.el.clientHeight / this.height) - 1);
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page, Home: -1e9, End: 1e9 }[e.key];
    if (e.target !== this.el || e.ctrlKey || e.metaKey || e.altKey) return;
    if (step !== undefined && this.length) {
      e.preventDefault();
      e.stopPropagation();
      this.focused = Math.min(this.length - 1, Math.max(0, (this.focused ?? (step > 0 ? -1 : this.length)) + step));
      const y = this.focused * this.height;
      if (y < this.el.scrollTop) this.el.scrollTop = y;
      else if (y + this.height > this.el.scrollTop + this.el.clientHeight) this.el.scrollTop = y + this.height - this.el.clientHeight;
      this.later();
    } else if (e.key === 'Enter' && this.focused !== null) {
      e.preventDefault();
      const item = this.item(this.focused);
      if (item !== undefined && this.open) this.open(item);
    }
  }
}
