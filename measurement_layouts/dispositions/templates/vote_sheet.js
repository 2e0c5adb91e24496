"use strict";
(function sheet() {
  const form = document.getElementById("sheet");
  const steps = [...document.querySelectorAll(".step")];
  const questions = steps.filter((step) => step.dataset.kind === "question");
  const part = (name) => document.getElementById(name);
  const chosen = (step) => step.querySelector("input:checked");
  const rater = () => part("rater").value.trim();
  let at = 0, unsaved = false;
  part("no-script").hidden = true;

  function show(place) {
    at = place;
    steps.forEach((step, other) => { step.hidden = other !== at; });
    const step = steps[at], kind = step.dataset.kind, answered = questions.filter(chosen).length;
    part("place").textContent = kind === "start" ? "Before you start"
      : kind === "end" ? "The end" : `${step.dataset.place} of ${questions.length}`;
    part("progress").value = answered;
    part("back").hidden = at === 0;
    part("next").hidden = kind === "end";
    part("next").textContent = at === 0 ? "Start" : "Next";
    part("answered").textContent = `You have answered ${answered} of ${questions.length} questions.`;
    part("saved").textContent = "";
    scrollTo(0, 0);
    step.querySelector("[tabindex='-1']").focus({ preventScroll: true });
  }

  function missing(step) {
    if (step.dataset.kind === "start") return rater() ? "" : "Please give your name or your code.";
    return chosen(step) ? "" : "Please choose one of the answers.";
  }

  function next() {
    if (at === steps.length - 1) return;
    const step = steps[at], said = missing(step);
    step.querySelector("[role='alert']").textContent = said;
    if (!said) show(at + 1);
    else if (step.dataset.kind === "start") part("rater").focus();
    else step.querySelector("input").focus();
  }

  function lines() {
    const known = [...document.querySelectorAll("select[data-about]")].filter((one) => one.value);
    const about = Object.fromEntries(known.map((one) => [one.dataset.about, one.value]));
    return questions.filter(chosen).map((step) => {
      const answer = chosen(step), graded = form.dataset.graded === "true";
      return JSON.stringify({
        scenario: step.dataset.scenario,
        rater: rater(),
        vote: answer.value,
        ...(graded && answer.value !== "n/a" ? { stance: Number(answer.dataset.stance) } : {}),
        place: Number(step.dataset.place),
        first: step.dataset.first,
        seed: Number(form.dataset.seed),
        about,
      });
    });
  }

  function save() {
    const name = rater().replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "") || "rater";
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([`${lines().join("\n")}\n`], { type: "text/plain" }));
    link.download = `votes-${name}-${form.dataset.seed}.jsonl`;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    unsaved = false;
    part("saved").textContent = `Saved as ${link.download}.`;
  }

  form.addEventListener("submit", (event) => { event.preventDefault(); next(); });
  form.addEventListener("change", () => {
    unsaved = true;
    steps[at].querySelector("[role='alert']").textContent = "";
    part("progress").value = questions.filter(chosen).length;
  });
  part("back").addEventListener("click", () => show(at - 1));
  part("save").addEventListener("click", save);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("[type='text'], select")) return;
    const option = steps[at].querySelectorAll("input[type='radio']")[Number(event.key) - 1];
    if (option) { option.focus(); option.click(); }
    else if (event.key === "Enter" && event.target.matches("legend, h1, body")) { event.preventDefault(); next(); }
  });
  addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });
})();
