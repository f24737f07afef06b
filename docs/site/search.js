// The search of the site: Doxygen's box and page of results, over Lunr's index of every section, function and struct.
// Only the page of results makes the index.
"use strict";

const SEARCHED = /[^\p{L}\p{N}]+/u; // splits the words of gnnmg_trainer_run too
const MOST = 40;

function load(file) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = file;
    script.onload = resolve;
    script.onerror = () => reject(new Error(file + " is not there"));
    document.head.append(script);
  });
}

let made; // a promise of the index
function index() {
  made = made || load("lunr.min.js").then(() => load("search_data.js")).then(() => lunr(function () {
    lunr.tokenizer.separator = SEARCHED;
    this.ref("url");
    this.field("title", { boost: 10 });
    this.field("text");
    SEARCH_DATA.forEach(section => this.add(section, { boost: section.boost }));
  }));
  return made;
}

// Each word, or a longer word with this beginning, must be present; whole words come first. Words like "how" and "to", which
// the index lacks, do not count.
function find(found, words) {
  const counted = words.filter(lunr.stopWordFilter);
  if (!counted.length) return []; // a query without words finds everything
  return found.query(query => counted.forEach(word => {
    const stem = lunr.stemmer(new lunr.Token(word)).toString();
    query.term(stem, { presence: lunr.Query.presence.REQUIRED, wildcard: lunr.Query.wildcard.TRAILING, usePipeline: false });
    query.term(stem, { boost: 5, usePipeline: false });
  }));
}

// The text around the first of the words, which are marked in it.
function excerpt(text, words) {
  const lower = text.toLowerCase();
  const places = words.map(word => lower.indexOf(word)).filter(place => place >= 0);
  const begin = Math.max(0, Math.min(...places, text.length) - 80);
  const line = document.createElement("p");
  const shown = (begin ? "… " : "") + text.slice(begin, begin + 240) + (begin + 240 < text.length ? " …" : "");
  const pattern = new RegExp("(" + words.join("|") + ")", "giu");
  shown.split(pattern).forEach((piece, i) => {
    const part = document.createElement(i % 2 ? "b" : "span");
    part.textContent = piece;
    line.append(part);
  });
  return line;
}

function entry(section, words) {
  const item = document.createElement("div"), link = document.createElement("a"), page = document.createElement("small");
  item.className = "search-result";
  link.href = section.url;
  link.textContent = section.title;
  page.textContent = section.page === section.title ? "" : section.page;
  item.append(link, page, excerpt(section.text, words));
  return item;
}

// Called by Doxygen's page of results, in place of its own function, which asks a server.
function searchFor(text) {
  const words = text.toLowerCase().split(SEARCHED).filter(word => word);
  const results = document.getElementById("searchresults");
  index().then(found => {
    const sections = new Map(SEARCH_DATA.map(section => [section.url, section]));
    const named = hit => sections.get(hit.ref).title.split("::").pop() === text; // a function, a field of a struct
    const hits = find(found, words).sort((a, b) => named(b) - named(a));
    const count = document.createElement("p");
    count.textContent = hits.length ? `${hits.length} places for “${text}”` : `Nothing was found for “${text}”.`;
    results.replaceChildren(count, ...hits.slice(0, MOST).map(hit => entry(sections.get(hit.ref), words)));
  }).catch(error => { results.textContent = "The search does not work: " + error.message; });
}
