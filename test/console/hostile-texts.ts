/** Texts that break pages which put text into markup, addresses, styles, scripts or terminals. */

const payload = 'globalThis.hostile=1';

const markup = [
  `<script>${payload}</script>`,
  `<img src=x onerror="${payload}">`,
  `"><svg onload=${payload}>`,
  `'><iframe srcdoc="<script>parent.${payload}</script>">`,
  `</pre></code><b onclick=${payload}>bold</b>`,
  `<a href="javascript:${payload}">link</a>`,
  `<style>*{display:none}</style>`,
  `<base href="https://example.com/">`,
  `<form action="https://example.com/"><button>send</button></form>`,
  `<math><mtext><table><mglyph><style><img src=x onerror=${payload}>`,
  `<video><source onerror="${payload}"></video>`,
  `<object data="data:text/html,<script>${payload}</script>">`,
  `<link rel=stylesheet href=//example.com/x.css>`,
  '<!-- comment --> after',
  '&lt;b&gt;escaped&lt;/b&gt;',
  '&#x3c;script&#x3e;',
  '<![CDATA[ data ]]>',
  '</title><title>other',
  '</textarea><textarea>',
  `<details open ontoggle=${payload}>`,
];

const templates = [
  '{{constructor.constructor("globalThis.hostile=1")()}}',
  '${globalThis.hostile=1}',
  '<%= 7*7 %>',
  '#{7*7}',
  '{"$cel": "order"}',
  '__proto__',
  'constructor',
  'toString',
  'javascript:globalThis.hostile=1',
  'data:text/html,<script>globalThis.hostile=1</script>',
  "'; DROP TABLE orders; --",
  '" or ""="',
  '$(rm -rf /)',
  '`id`',
  '../../../../etc/passwd',
  '%3Cscript%3E',
  '=HYPERLINK("https://example.com")',
  '+1+1',
  '@SUM(1)',
  'null',
];

const signs = [
  '\u202Egnp.exe',
  '\u2066isolated\u2069',
  '\u200Binvisible\u200B',
  '\uFEFFmark',
  'a\u0301\u0301\u0301\u0301\u0301',
  'Z\u0351\u036B\u0343A\u0328L\u0327G\u0321O',
  '\u{1F469}\u200D\u{1F4BB}',
  '\u05E9\u05DC\u05D5\u05DD abc',
  '\u0645\u0631\u062D\u0628\u0627 123',
  '\u2067right to left',
  '\u00AD soft hyphen',
  'tab\there',
  'line\nbreak',
  'return\rhere',
  '\u180E separator of vowels',
  '\u2028separator',
  'x'.repeat(1_024),
  'word '.repeat(200).trim(),
  '\u{E0041}tag',
  '%s %d %n',
];

/** Exactly 200 texts: every one of the above, alone and with neighbors that could change its meaning. */
const alone = [...markup, ...templates, ...signs];
const mixed = alone
  .flatMap((text) => [`${text}'"`, `"}]${text}`, `${text} ${text}`.slice(0, 1_024)])
  .filter((text) => text.length <= 1_024);
export const hostileTexts: readonly string[] = [...alone, ...mixed].slice(0, 200);
