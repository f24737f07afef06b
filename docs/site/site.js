// Tabs for programs in several languages. A choice applies to all programs, also on the next page.
"use strict";

function chooseLanguage(name) {
  for (const group of document.querySelectorAll(".languages")) {
    const sections = [...group.querySelectorAll("section")];
    const shown = sections.find(section => section.title_ === name) || sections[0];
    sections.forEach(section => { section.hidden = section !== shown; });
    group.querySelectorAll("button").forEach(button => {
      button.setAttribute("aria-selected", button.textContent === shown.title_);
    });
  }
}

function makeTabs(group) {
  const bar = document.createElement("div");
  bar.className = "language-bar";
  bar.setAttribute("role", "tablist");
  for (const section of group.querySelectorAll("section")) {
    section.title_ = section.title;
    section.removeAttribute("title"); // no tooltip over the code
    const button = document.createElement("button");
    button.setAttribute("role", "tab");
    button.textContent = section.title_;
    button.onclick = () => {
      const before = bar.getBoundingClientRect().top;
      localStorage.setItem("language", section.title_);
      chooseLanguage(section.title_);
      scrollContent(bar.getBoundingClientRect().top - before);
    };
    bar.append(button);
  }
  group.prepend(bar);
}

// Codes above that are now longer or shorter do not move what the reader looks at.
function scrollContent(distance) {
  document.getElementById("doc-content").scrollBy(0, distance);
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll(".languages").forEach(makeTabs);
  chooseLanguage(localStorage.getItem("language") || "C");
  document.querySelectorAll("table.markdownTable, table.fieldtable").forEach(table => {
    const frame = document.createElement("div"); // wide tables scroll by themselves
    frame.className = "wide";
    table.replaceWith(frame);
    frame.append(table);
  });
});
DoxygenAwesomeDarkModeToggle.init();
DoxygenAwesomeFragmentCopyButton.init();
DoxygenAwesomeInteractiveToc.init();

// The menu has few enough pages to show all of them: its groups are open. Doxygen calls this when the menu is there, to mark
// the page in it and to scroll to that, so the groups are opened before, and at once.
if (typeof selectAndHighlight === "function") {
  const selectInMenu = selectAndHighlight;
  window.selectAndHighlight = (hash, node) => {
    jQuery.fx.off = true;
    document.querySelectorAll("#nav-tree-contents > ul > li > ul > li").forEach(group => {
      const pages = group.querySelector("ul");
      if (!pages || pages.style.display === "none") group.querySelector(".item > a")?.click();
    });
    jQuery.fx.off = false;
    selectInMenu(hash, node);
  };
}
