(function explorer() {
  const told = document.getElementById("explore-data");
  if (!told) return;
  const data = JSON.parse(told.textContent);
  const part = (name) => document.getElementById(`explore-${name}`);
  const wide = 460, tall = 320, left = 52, right = 448, top = 10, bottom = 272, colours = 6;
  const unit = (one) => (one.unit ? `${one.name} (${one.unit})` : one.name);
  const short = (value) => String(Number(value.toPrecision(3)));
  const whose = (one, which) => one.values[which];

  function draw(tag, attributes, room, text = "") {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(text);
    return room.appendChild(made);
  }
  function axes(room, label, across, up) { // a drawing with both axes' names and ends
    room.replaceChildren();
    const svg = draw("svg", { viewBox: `0 0 ${wide} ${tall}`, class: "explored", role: "group", "aria-label": label }, room);
    draw("path", { class: "track", d: `M${left} ${top}V${bottom}H${right}` }, svg);
    draw("text", { x: left, y: bottom + 16 }, svg, short(across.low));
    draw("text", { x: right, y: bottom + 16, "text-anchor": "end" }, svg, short(across.high));
    draw("text", { x: (left + right) / 2, y: bottom + 36, "text-anchor": "middle" }, svg, unit(across));
    draw("text", { x: left - 6, y: bottom, "text-anchor": "end" }, svg, short(up.low));
    draw("text", { x: left - 6, y: top + 8, "text-anchor": "end" }, svg, short(up.high));
    const middle = (top + bottom) / 2;
    draw("text", { x: 14, y: middle, "text-anchor": "middle", transform: `rotate(-90 14 ${middle})` }, svg, unit(up));
    return {
      svg,
      x: (value) => left + ((value - across.low) / (across.high - across.low)) * (right - left),
      y: (value) => bottom - ((value - up.low) / (up.high - up.low)) * (bottom - top),
    };
  }
  const chosen = () => Array.from(part("subjects").selectedOptions, (one) => data.subjects[one.value]);

  function scatter() {
    const [a, u] = ["across", "up"].map((name) => Number(part(name).value));
    const across = data.elements[a], up = data.elements[u], marked = chosen();
    const { svg, x, y } = axes(part("scatter"), `${across.name} against ${up.name}`, across, up);
    const above = (one) => Number(marked.includes(one)); // those chosen are drawn last
    for (const one of [...data.subjects].sort((a, b) => above(a) - above(b))) {
      const [mean, low, high] = whose(one, a), [upMean, upLow, upHigh] = whose(one, u);
      const colour = marked.indexOf(one) % colours;
      const link = draw("a", { href: `#${one.id}`, class: colour < 0 ? "" : `chosen line-${colour}` }, svg);
      const name = `${one.name}: ${across.name} ${short(mean)} [${short(low)}, ${short(high)}], ${up.name} ${short(upMean)} [${short(upLow)}, ${short(upHigh)}]`;
      link.setAttribute("aria-label", name);
      draw("title", {}, link, name);
      draw("path", { class: "whisker", d: `M${x(low)} ${y(upMean)}H${x(high)}M${x(mean)} ${y(upLow)}V${y(upHigh)}` }, link);
      draw("circle", { cx: x(mean), cy: y(upMean), r: 4 }, link);
    }
  }

  function between(values, from, at) { // straight lines between the values that were computed
    let last = from.findIndex((value) => value >= at);
    if (last < 1) last = last < 0 ? from.length - 1 : 1;
    const share = (at - from[last - 1]) / (from[last] - from[last - 1]);
    return values[last - 1] + share * (values[last] - values[last - 1]);
  }
  function forecasts() {
    const which = Number(part("property").value), property = data.properties[which];
    const from = property.values, low = from[0], high = from[from.length - 1];
    const at = low + ((high - low) * part("demand").value) / 1000;
    const across = { ...property, low, high }, up = { name: "Forecast", unit: "", low: 0, high: 1 };
    const { svg, x, y } = axes(part("curves"), `Forecasts over ${property.name}`, across, up);
    const rows = part("table").tBodies[0];
    rows.replaceChildren();
    part("value").textContent = `${short(at)} ${property.unit}`;
    part("demand").setAttribute("aria-valuetext", part("value").textContent);
    draw("path", { class: "diagonal", d: `M${x(at)} ${top}V${bottom}` }, svg);
    chosen().forEach((one, place) => {
      const [mean, lower, upper] = one.curves[which], group = draw("g", { class: `line-${place % colours}` }, svg);
      const path = (values) => values.map((value, step) => `${x(from[step])} ${y(value)}`);
      draw("path", { class: "band", d: `M${[...path(lower), ...path(upper).reverse()].join("L")}Z` }, group);
      draw("path", { class: "line", d: `M${path(mean).join("L")}` }, group);
      const [now, least, most] = [mean, lower, upper].map((values) => between(values, from, at));
      draw("circle", { cx: x(at), cy: y(now), r: 4 }, group);
      const row = rows.insertRow(), name = document.createElement("th"), link = document.createElement("a");
      name.scope = "row";
      link.href = `#${one.id}`;
      link.textContent = one.name;
      link.className = `line-${place % colours}`;
      name.append(link);
      row.append(name);
      for (const text of [now.toFixed(2), `[${least.toFixed(2)}, ${most.toFixed(2)}]`]) {
        const cell = row.insertCell();
        cell.className = "n";
        cell.textContent = text;
      }
    });
  }

  const fill = (name, list) => part(name).append(...list.map((one, place) => new Option(one.name, place)));
  fill("across", data.elements);
  fill("up", data.elements);
  fill("property", data.properties);
  fill("subjects", data.subjects);
  const able = data.elements.flatMap((one, place) => (one.kind === "capability" ? [place] : []));
  const [first, second] = able.length > 1 ? able : [0, Math.min(1, data.elements.length - 1)];
  part("across").selectedIndex = first;
  part("up").selectedIndex = second;
  const last = data.subjects.length - 1; // the first ones to show: the most and the least able, and one between
  const byMean = data.subjects.map((_, place) => place).sort((a, b) => whose(data.subjects[b], first)[0] - whose(data.subjects[a], first)[0]);
  for (const place of [0, Math.floor(last / 2), last]) part("subjects").options[byMean[place]].selected = true;
  for (const name of ["across", "up"]) part(name).addEventListener("change", scatter);
  part("property").addEventListener("change", forecasts);
  part("demand").addEventListener("input", forecasts);
  part("subjects").addEventListener("change", () => { scatter(); forecasts(); });
  scatter();
  if (data.properties.length) forecasts();
})();
