'use strict';
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const controls = document.getElementById('controls');
  const changes = all('article.change');
  for (const button of all('button[data-copies]')) {
    button.hidden = false;
    button.addEventListener('click', async () => {
      const text = document.getElementById(button.dataset.copies).textContent;
      let done = false;
      try { await navigator.clipboard.writeText(text); done = true; } catch {
        // A file opened from disk may have no clipboard: select the text instead.
        const range = document.createRange();
        range.selectNodeContents(document.getElementById(button.dataset.copies));
        getSelection().removeAllRanges();
        getSelection().addRange(range);
      }
      document.getElementById('said').textContent = done ? button.dataset.done : button.dataset.selected;
      const before = button.textContent;
      if (done) { button.textContent = button.dataset.done; setTimeout(() => { button.textContent = before; }, 1500); }
    });
  }
  if (controls && changes.length) {
    controls.hidden = false;
    const search = document.getElementById('search');
    const tool = document.getElementById('tool');
    const texts = changes.map((it) => (it.dataset.tool + ' ' + it.textContent).toLowerCase());
    const chosen = (name) => new Set(all(`input[name=${name}]:checked`, controls).map((it) => it.value));
    const apply = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const levels = chosen('level'), exposures = chosen('exposure');
      let shown = 0;
      changes.forEach((it, at) => {
        const fits = levels.has(it.dataset.level) && exposures.has(it.dataset.exposure)
          && (tool.value === '' || tool.value === it.dataset.tool) && words.every((word) => texts[at].includes(word));
        it.hidden = !fits;
        shown += fits ? 1 : 0;
      });
      for (const section of all('section.component')) section.hidden = !all('article.change', section).some((it) => !it.hidden);
      document.getElementById('shown').textContent = controls.dataset.shown.replace('{n}', shown).replace('{all}', changes.length);
    };
    controls.addEventListener('input', apply);
    document.getElementById('reset').addEventListener('click', () => {
      search.value = ''; tool.value = '';
      for (const box of all('input[type=checkbox]', controls)) box.checked = true;
      apply(); search.focus();
    });
    search.addEventListener('keydown', (event) => { if (event.key === 'Escape') { search.value = ''; apply(); } });
    apply();
  }
})();
