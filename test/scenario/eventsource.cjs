// A listener: eventsource.cjs URL KEY FILE [TYPE...]. Writes "SEQ ID" of every event to FILE, a line each,
// as a page would see it, over any number of reconnects. "opened" and "lost" go to standard output.
const fs = require("node:fs")
const EventSource = require("eventsource")

const [url, key, file, ...types] = process.argv.slice(2)
const out = fs.openSync(file, "a")
const source = new EventSource(url, { headers: { Authorization: `Bearer ${key}` } })
const hear = e => fs.writeSync(out, `${e.lastEventId} ${JSON.parse(e.data).id.replace("signal:", "")}\n`)
source.onmessage = hear
for (const type of types) source.addEventListener(type, hear)
source.onopen = () => console.log("opened")
source.onerror = e => console.log("lost", e.status ?? "", source.readyState)
