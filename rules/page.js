// SPDX-License-Identifier: MIT
// What the page does when somebody clicks, types or presses a key. Everything is in the page already; this only shows and hides.
'use strict';
(function () {
	const $ = (q, at) => (at || document).querySelector(q);
	const all = (q, at) => [...(at || document).querySelectorAll(q)];
	const picture = $('#picture'), items = all('.list li'), rows = all('.row', picture), lanes = all('.lane', picture);
	const ROW = 24, GAP = 12;
	let current = null;

	// ---- the picture: rows below each other, lanes from row to row ----

	const owner = (r) => rows[+r.dataset.owner];
	function layout() {
		const y = [];
		let at = 0;
		rows.forEach((r, i) => {
			const head = owner(r);
			const hidden = head !== r && head.classList.contains('graph') && head.classList.contains('folded');
			r.classList.toggle('hidden', hidden);
			if (hidden) {
				y[i] = y[+r.dataset.owner];
				return;
			}
			if (i && (r.classList.contains('frame') || r.classList.contains('process'))) at += GAP;
			y[i] = at;
			r.setAttribute('transform', `translate(0 ${at})`);
			at += ROW;
		});
		for (const l of lanes) {
			l.setAttribute('y1', y[+l.dataset.first] + ROW / 2);
			l.setAttribute('y2', y[+l.dataset.last] + ROW / 2);
		}
		const height = Math.max(at, ROW), width = picture.viewBox.baseVal.width;
		picture.setAttribute('height', height);
		picture.setAttribute('viewBox', `0 0 ${width} ${height}`);
		twin();
	}
	function fold(graph, folded) {
		graph.classList.toggle('folded', folded);
		graph.setAttribute('aria-expanded', String(!folded));
	}
	function toggle(graph) {
		fold(graph, !graph.classList.contains('folded'));
		layout();
	}
	for (const g of all('.graph', picture)) {
		g.addEventListener('click', () => toggle(g));
		g.addEventListener('keydown', (e) => {
			if (e.key !== 'Enter' && e.key !== ' ') return;
			e.preventDefault();
			toggle(g);
		});
	}
	const foldAll = (folded) => { all('.graph', picture).forEach((g) => fold(g, folded)); layout(); };
	$('#open').addEventListener('click', () => foldAll(false));
	$('#close').addEventListener('click', () => foldAll(true));

	// Behind the cut there would be two memories: a second, broken line beside the lane of the finding.
	function twin() {
		all('.twin', picture).forEach((t) => t.remove());
		if (!current || !current.cut) return;
		const from = rows[current.cut], to = rows[current.last];
		if (!from.dataset.lane || from === to) return;
		const y = (r) => r.transform.baseVal[0].matrix.f + ROW / 2;
		const line = document.createElementNS('http://www.w3.org/2000/svg', 'path'), x = +from.dataset.x + 6;
		line.setAttribute('class', 'twin');
		line.setAttribute('d', `M${+from.dataset.x} ${y(from)}L${x} ${y(from) + 10}V${y(to)}`);
		$('.lanes', picture).append(line);
	}

	// ---- a finding ----

	function clear() {
		all('.lit, .near', picture).forEach((r) => r.classList.remove('lit', 'near'));
		all('.map .lit').forEach((a) => a.classList.remove('lit'));
		picture.classList.remove('dim');
		current = null;
		for (const i of items) $('button', i).removeAttribute('aria-current');
		for (const a of all('article')) a.hidden = true;
		$('#none').hidden = false;
		layout();
	}
	function light(path) {
		for (const n of path) {
			const r = rows[n], head = owner(r);
			r.classList.add('lit');
			if (head.classList.contains('graph')) fold(head, false);
			head.classList.add('near');
			if (head !== r) owner(head).classList.add('near');
			if (r.dataset.lane) { const l = document.getElementById(`l${r.dataset.lane}`); if (l) l.classList.add('lit'); }
			const square = $(`.map a[href="#${head.id}"]`);
			if (square) square.classList.add('lit');
		}
	}
	function select(id, move) {
		const article = document.getElementById(id), item = items.find((i) => i.dataset.id === id);
		if (!article || !item) return;
		clear();
		$('#none').hidden = true;
		article.hidden = false;
		const button = $('button', item);
		button.setAttribute('aria-current', 'true');
		button.scrollIntoView({ block: 'nearest' });
		const path = (article.dataset.rows || '').split(' ').filter(Boolean).map(Number);
		current = { id, cut: article.dataset.cut ? +article.dataset.cut : 0, last: Math.max(...path, 0) };
		light(path);
		picture.classList.toggle('dim', path.length > 0);
		layout();
		if (path.length) show(rows[Math.min(...path)]);
		$('#detail').scrollTop = 0;
		if (move) history.replaceState(null, '', `#${id}`);
	}
	function show(row) {
		const pane = $('#program'), y = row.getBoundingClientRect().top - pane.getBoundingClientRect().top + pane.scrollTop;
		pane.scrollTop = Math.max(0, y - 40 - $('.map').offsetHeight);
	}
	for (const i of items) $('button', i).addEventListener('click', () => select(i.dataset.id, true));
	for (const li of all('.steps li[data-row]')) {
		const b = $('button', li);
		if (b) b.addEventListener('click', () => { show(rows[+li.dataset.row]); });
	}
	for (const a of all('.map a'))
		a.addEventListener('click', (e) => {
			e.preventDefault();
			const g = document.getElementById(a.getAttribute('href').slice(1));
			fold(g, false);
			layout();
			show(g);
			g.focus({ preventScroll: true });
		});

	// ---- filters ----

	function filter() {
		const words = $('#search').value.toLowerCase().split(/\s+/).filter(Boolean), rule = $('#rule').value;
		const on = new Set(all('.sevs input').filter((c) => c.checked).map((c) => c.value));
		let n = 0;
		for (const i of items) {
			const article = document.getElementById(i.dataset.id), text = article.textContent.toLowerCase();
			const good = on.has(i.dataset.severity) && (!rule || i.dataset.rule === rule) && words.every((w) => text.includes(w));
			i.hidden = !good;
			article.classList.toggle('filtered', !good);
			n += good;
		}
		$('#count').textContent = `${n} of ${items.length}`;
	}
	$('#search').addEventListener('input', filter);
	$('#rule').addEventListener('change', filter);
	for (const c of all('.sevs input')) c.addEventListener('change', filter);

	// ---- theme, keys ----

	$('#theme').addEventListener('click', () => {
		const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
		root.dataset.theme = dark ? 'light' : 'dark';
	});
	function step(by) {
		const shown = items.filter((i) => !i.hidden), at = shown.findIndex((i) => current && i.dataset.id === current.id);
		const next = shown[Math.min(shown.length - 1, Math.max(0, at < 0 ? (by > 0 ? 0 : shown.length - 1) : at + by))];
		if (next) {
			select(next.dataset.id, true);
			$('button', next).focus({ preventScroll: true });
		}
	}
	document.addEventListener('keydown', (e) => {
		const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName);
		if (e.ctrlKey || e.metaKey || e.altKey) return;
		if (e.key === 'Escape') { if (typing) e.target.blur(); else clear(); }
		else if (typing) return;
		else if (e.key === '/') { e.preventDefault(); $('#search').focus(); }
		else if (e.key === 'j' || e.key === 'ArrowDown' && e.target.closest('.list')) { e.preventDefault(); step(1); }
		else if (e.key === 'k' || e.key === 'ArrowUp' && e.target.closest('.list')) { e.preventDefault(); step(-1); }
	});

	const fit = () => document.documentElement.style.setProperty('--head', `${$('header').offsetHeight}px`);
	addEventListener('resize', fit);
	fit();
	filter();
	const first = items.find((i) => !i.hidden);
	if (/^#f\d+$/.test(location.hash)) select(location.hash.slice(1), false);
	if (!current && first) select(first.dataset.id, false);
	addEventListener('hashchange', () => { if (/^#f\d+$/.test(location.hash)) select(location.hash.slice(1), false); });
})();
