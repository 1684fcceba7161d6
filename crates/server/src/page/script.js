"use strict";
// Pages that show what is so follow what happens; the others say that something did.
(() => {
  const main = document.getElementById("main");
  const live = main.dataset.live;
  if (live === "still") return;
  const news = document.getElementById("news");
  const isBusy = () => {
    const selection = getSelection();
    return main.contains(document.activeElement) && document.activeElement.matches("input, textarea")
      || selection && !selection.isCollapsed && main.contains(selection.anchorNode);
  };

  // What has the focus has it again, if it is still there.
  const show = (text) => {
    const page = new DOMParser().parseFromString(text, "text/html");
    const next = page.getElementById("main");
    // What was opened stays open.
    const opened = next ? next.querySelectorAll("details") : [];
    [...main.querySelectorAll("details")].forEach((details, at) => {
      if (details.open && opened[at]) opened[at].open = true;
    });
    if (!next || next.dataset.live !== live || next.innerHTML === main.innerHTML) return;
    const focused = main.contains(document.activeElement) ? document.activeElement : null;
    const links = (of) => [...of.querySelectorAll("a, button")];
    const at = focused ? links(main).indexOf(focused) : -1;
    main.replaceChildren(...document.adoptNode(next).childNodes);
    if (!focused) return;
    const isIt = (one) => focused.matches("a")
      ? one.getAttribute("href") === focused.getAttribute("href") : one.textContent === focused.textContent;
    const now = links(main);
    const alike = now.filter(isIt);
    // Where there came or went something before it, it is the only one of its kind or none.
    const again = now[at] && isIt(now[at]) ? now[at] : alike.length === 1 ? alike[0] : null;
    if (again) again.focus({ preventScroll: true });
  };

  let asking = false, again = false;
  const look = async () => {
    if (asking) { again = true; return; }
    asking = true;
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" }, redirect: "error" });
      if (answer.ok && !isBusy()) show(await answer.text());
    } catch {
      // The server is away; the stream says when it is back.
    }
    asking = false;
    if (again) { again = false; look(); }
  };

  const stream = new EventSource("/events");
  let isOpen = false;
  stream.addEventListener("open", () => {
    // Whatever happened while nobody listened is seen now.
    if (isOpen && live === "follows") look();
    isOpen = true;
    main.dataset.heard = "";
    if (live === "follows") news.textContent = "Follows what happens";
  });
  stream.addEventListener("error", () => {
    delete main.dataset.heard;
    if (live === "follows") news.textContent = "The server does not answer; trying again";
  });
  stream.addEventListener("change", () => {
    if (live === "follows") look();
    else if (!main.dataset.told) {
      main.dataset.told = "";
      const told = document.getElementById("told");
      if (told) told.hidden = false;
    }
  });
  addEventListener("pagehide", () => stream.close());
})();
