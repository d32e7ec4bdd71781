// The marks on the time lane: milestones, findings as flags, the scrubber. Each takes the drawing it is drawn on.
import { seconds } from "./format.js";

/** Height of the row of flags. */
export const FLAGS = 14;
/** Height of the row of labels. */
export const LABELS = 14;
const SEVERITY = { error: "err", warning: "warnf", note: "ink3" };

/**
 * Dashed lines with labels, at the right of the line, or else at its left. Of two that would
 * touch, the earlier gives way, and so does one that another line would cross.
 */
export function drawMilestones(drawing) {
  const { context } = drawing;
  const { milestones } = drawing.scene;
  const placed = [];
  const lines = milestones.map((mark) => drawing.x(mark.at));
  for (const mark of [...milestones].sort((a, b) => b.at - a.at)) {
    const x = drawing.x(mark.at);
    if (x < -1 || x > drawing.width + 1) continue;
    const colour = drawing.colour[mark.tone ?? "ink3"];
    const strong = mark.strong === true;
    drawing.line(Math.min(drawing.width - 1, x), FLAGS, drawing.axisY(), colour, strong ? { width: 2 } : { dash: [2, 2] });
    if (mark.dot) {
      context.fillStyle = colour;
      context.beginPath();
      context.arc(x, FLAGS + 4, 3.5, 0, 7);
      context.fill();
    }
    const width = context.measureText(mark.label).width;
    const offset = mark.dot ? 8 : 3;
    const fits = (left) =>
      left >= 0 &&
      left + width <= drawing.width &&
      (mark.tone || !lines.some((line) => line > left && line < left + width)) &&
      !placed.some((other) => left - 6 < other[1] && left + width + 6 > other[0]);
    const left = [x + offset, x - offset - width].find(fits);
    if (left === undefined) continue;
    placed.push([left - 6, left + width + 6]);
    context.fillStyle = mark.tone ? colour : drawing.colour.ink2;
    context.textAlign = "left";
    context.fillText(mark.label, left, FLAGS + 8);
  }
}

/** A flag for every finding that has a frame; gives where they are, topmost first. */
export function drawFlags(drawing) {
  const { findings, source } = drawing.scene;
  const flags = [];
  // Notes first, so that an error lies on top.
  const order = ["note", "warning", "error"];
  const flagged = findings.map((finding, index) => ({ finding, index })).filter(({ finding }) => finding.frame !== null && finding.frame < source.count);
  flagged.sort((a, b) => order.indexOf(a.finding.severity) - order.indexOf(b.finding.severity));
  for (const { finding, index } of flagged) {
    const x = drawing.x(source.at[finding.frame]);
    if (Number.isNaN(x) || x < 0 || x > drawing.width) continue;
    const colour = drawing.colour[SEVERITY[finding.severity]];
    drawing.line(x, FLAGS - 1, drawing.axisY(), colour);
    drawFlag(drawing, x, finding.severity, colour);
    flags.unshift({ x, index });
  }
  return flags;
}

function drawFlag(drawing, x, severity, colour) {
  const { context } = drawing;
  context.fillStyle = colour;
  context.strokeStyle = colour;
  context.beginPath();
  if (severity === "error") {
    for (const [dx, dy] of [[0, 0], [5.5, 5.5], [0, 11], [-5.5, 5.5]]) context.lineTo(x + dx, 1 + dy);
    context.fill();
  } else if (severity === "warning") {
    for (const [dx, dy] of [[0, 0.5], [5.5, 10.5], [-5.5, 10.5]]) context.lineTo(x + dx, 1 + dy);
    context.closePath();
    context.fill();
  } else {
    context.fillStyle = drawing.colour.surface;
    context.lineWidth = 1.2;
    context.arc(x, 6.5, 4.8, 0, 7);
    context.fill();
    context.stroke();
  }
  context.strokeStyle = severity === "note" ? colour : drawing.colour.surface;
  context.lineWidth = 1.3;
  context.beginPath();
  context.moveTo(x, severity === "note" ? 6 : 4.5);
  context.lineTo(x, severity === "note" ? 9 : 7);
  context.moveTo(x, severity === "note" ? 3.5 : 8.5);
  context.lineTo(x, severity === "note" ? 4.6 : 9.6);
  context.stroke();
}

/** The line of the past that the answer is shown at. */
export function drawScrubber(drawing) {
  const { context } = drawing;
  const { scrub, source } = drawing.scene;
  if (scrub === null || scrub >= source.count) return;
  const x = drawing.x(source.at[scrub]);
  drawing.line(x, FLAGS, drawing.axisY(), drawing.colour.accent);
  drawPointer(drawing, x);
  const label = `${seconds(source.at[scrub])} s`;
  const width = context.measureText(label).width + 18;
  const left = Math.min(Math.max(0, x - width / 2), drawing.width - width);
  context.fillStyle = drawing.colour.accent;
  context.beginPath();
  context.roundRect(left, 0, width, 16, 4);
  context.fill();
  context.fillStyle = drawing.colour.onaccent;
  context.textAlign = "center";
  context.fillText(label, left + width / 2, 12);
}

/** The pointer under the axis. */
export function drawPointer(drawing, x) {
  const { context } = drawing;
  const y = drawing.axisY();
  context.fillStyle = drawing.colour.accent;
  context.beginPath();
  context.moveTo(x - 4.5, y + 1);
  context.lineTo(x + 4.5, y + 1);
  context.lineTo(x + 4.5, y + 5.5);
  context.lineTo(x, y + 9);
  context.lineTo(x - 4.5, y + 5.5);
  context.fill();
}
