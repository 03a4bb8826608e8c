/** The style sheet. Each rule is within the drawing's own class, so that an embedding page keeps its style. */

interface Colors {
  readonly paper: string;
  readonly ink: string;
  readonly faint: string;
  readonly frame: string;
  readonly line: string;
  /** Fill and outline. */
  readonly step: readonly [string, string];
  readonly choice: readonly [string, string];
  readonly plain: readonly [string, string];
  readonly fault: readonly [string, string];
  readonly undo: readonly [string, string];
}

const light: Colors = {
  paper: '#ffffff',
  ink: '#1f2328',
  faint: '#57606a',
  frame: '#f6f8fa',
  line: '#6e7781',
  step: ['#ddf4ff', '#0969da'],
  choice: ['#fff8c5', '#9a6700'],
  plain: ['#ffffff', '#6e7781'],
  fault: ['#ffebe9', '#cf222e'],
  undo: ['#fbefff', '#8250df'],
};

const dark: Colors = {
  paper: '#0d1117',
  ink: '#e6edf3',
  faint: '#9198a1',
  frame: '#151b23',
  line: '#8b949e',
  step: ['#0c2d6b', '#58a6ff'],
  choice: ['#3b2300', '#d29922'],
  plain: ['#21262d', '#8b949e'],
  fault: ['#490202', '#ff7b72'],
  undo: ['#271052', '#bc8cff'],
};

const kinds = [
  ['step', 'step'],
  ['choice', 'choice'],
  ['undo', 'undo'],
  ['compensate', 'undo'],
  ['raise', 'fault'],
  ['terminate', 'fault'],
  ['wait', 'plain'],
  ['assign', 'plain'],
  ['other', 'plain'],
  ['begin', 'plain'],
  ['end', 'plain'],
] as const satisfies readonly (readonly [string, keyof Colors])[];

function colored(colors: Colors): string {
  const { paper, ink, faint, frame, line, fault, undo } = colors;
  return [
    rule('.paper', `fill:${paper}`),
    rule('text', `fill:${ink}`),
    rule('.mono', `fill:${faint}`),
    rule('.frame rect', `fill:${frame};stroke:${line}`),
    rule('.frame text', `fill:${faint}`),
    ...kinds.map(([kind, color]) => rule(`.${kind}>:is(rect,path,circle)`, `fill:${colors[color][0]};stroke:${colors[color][1]}`)),
    rule('path.icon', `fill:none;stroke:${faint}`),
    rule('.join circle', `fill:${line}`),
    rule('.edge path', `stroke:${line}`),
    rule('.edge .tip', `fill:${line}`),
    rule('.fault path', `stroke:${fault[1]}`),
    rule('.fault .tip', `fill:${fault[1]}`),
    rule('.edge.undo path', `stroke:${undo[1]}`),
    rule('.label rect', `fill:${paper}`),
    rule('.label.inside rect', `fill:${frame}`),
    rule('.label text', `fill:${faint}`),
    rule('.label.fault text', `fill:${fault[1]}`),
    rule('.label.undo text', `fill:${undo[1]}`),
  ].join('');
}

const rule = (selector: string, declarations: string): string => `.redress-graph ${selector}{${declarations}}`;

const shared = [
  '.redress-graph{font-family:ui-sans-serif,system-ui,"Segoe UI",Roboto,Helvetica,Arial,sans-serif;font-size:13px}',
  rule('.bold', 'font-weight:600'),
  rule('.mono', 'font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:11px'),
  rule('.frame text', 'font-size:12px'),
  rule('.edge path', 'fill:none;stroke-width:1.4'),
  rule('.edge .tip', 'stroke:none'),
  rule('.edge.fault path', 'stroke-dasharray:6 4'),
  rule('.edge.undo path', 'stroke-dasharray:1.5 3.5;stroke-linecap:round'),
  rule('.undo rect', 'stroke-dasharray:1.5 3.5;stroke-linecap:round'),
  rule('.label rect', 'stroke:none;stroke-dasharray:none'),
  rule('.icon', 'stroke-width:1.4;stroke-linecap:round;stroke-linejoin:round'),
].join('');

export const styleSheet = `${colored(light)}@media (prefers-color-scheme:dark){${colored(dark)}}${shared}`;
