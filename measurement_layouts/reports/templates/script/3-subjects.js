(function subjects() {
  const room = document.getElementById("subjects"), list = document.getElementById("choose");
  const pages = Array.from(room.querySelectorAll(".subject"));
  const all = document.getElementById("all");
  const bar = room.querySelector(".controls");
  const alone = () => room.classList.contains("one-by-one");
  let chosen = pages[0];

  function show(page) {
    chosen.classList.remove("chosen");
    chosen = page;
    chosen.classList.add("chosen");
    list.value = chosen.id;
  }
  function follow() {
    const page = pages.find((one) => `#${one.id}` === location.hash);
    if (!page) return;
    show(page);
    (alone() ? bar : page).scrollIntoView();
    page.querySelector("h3").focus({ preventScroll: true });
  }
  const step = (by) => {
    const next = pages[(pages.indexOf(chosen) + by + pages.length) % pages.length];
    history.replaceState(null, "", `#${next.id}`);
    show(next);
    if (!alone()) next.scrollIntoView();
  };

  room.classList.add("one-by-one");
  show(chosen);
  addEventListener("hashchange", follow);
  list.addEventListener("change", () => { location.hash = list.value; });
  document.getElementById("before").addEventListener("click", () => step(-1));
  document.getElementById("after").addEventListener("click", () => step(1));
  all.addEventListener("click", () => {
    room.classList.toggle("one-by-one");
    all.setAttribute("aria-pressed", String(!alone()));
  });
  follow();
})();

(function zoom() {
  const button = document.getElementById("zoom"), diagram = document.getElementById("diagram");
  button.addEventListener("click", () => {
    const fits = diagram.classList.toggle("fits");
    button.setAttribute("aria-pressed", String(!fits));
  });
})();
