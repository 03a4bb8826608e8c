import { hash } from 'node:crypto';

const style = `
:root { color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif; }
body { max-width: 44rem; margin: 0 auto; padding: 3rem 1.25rem; }
h1 { margin: 0; font-size: 1.75rem; letter-spacing: -0.01em; }
h2 { margin: 2.25rem 0 0.5rem; font-size: 1.05rem; }
p { margin: 0.5rem 0; }
.lead { opacity: 0.75; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.35rem 1.25rem; margin: 0; }
dd { margin: 0; opacity: 0.8; }
code, pre { font: 0.875rem/1.5 ui-monospace, monospace; }
pre { overflow-x: auto; margin: 0.5rem 0; padding: 0.9rem 1rem; border: 1px solid #8884; border-radius: 0.5rem; background: #8881; }
@media (max-width: 34rem) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: 0.6rem; } }
`;

/** The page's policy: no scripts, no loaded resources, and only the inline style with this hash. */
export const pageSecurityPolicy = `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Redress</title>
<style>${style}</style>
</head>
<body>
<h1>Redress</h1>
<p class="lead">Runs orders, or any task of several steps that call remote services, and brings each to a defined end: completed, undone, or waiting for an operator.</p>
<p>The HTTP API is served at this address. <a href="/openapi.json">/openapi.json</a> describes its calls; <a href="/health">/health</a> reports that the system is up.</p>

<h2>Submit an order</h2>
<pre>TOKEN=$(npx redress token --role client --client acme)
curl -i http://127.0.0.1:3000/orders \\
  -H "Authorization: Bearer $TOKEN" \\
  -H "Content-Type: application/json" \\
  -H "Idempotency-Key: my-first-order" \\
  -d @order.json</pre>
<p>The response names the order in its <code>Location</code> header; <code>GET</code> it to follow its progress. Sending the same key again never creates a second order.</p>

<h2>On the command line</h2>
<dl>
<dt><code>npx redress token</code></dt><dd>prints a token for this machine: <code>--role client --client NAME</code>, <code>--role operator</code> or <code>--role admin</code></dd>
<dt><code>npx redress alerts</code></dt><dd>lists announcements: orders in Error, dead letters</dd>
<dt><code>npx redress channel receive NAME</code></dt><dd>reads a client's response queue</dd>
<dt><code>npx redress --help</code></dt><dd>lists the operator's other commands</dd>
<dt><code>npm run demo</code></dt><dd>submits good and bad orders and shows how each ends</dd>
</dl>
</body>
</html>
`;
