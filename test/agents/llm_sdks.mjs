// llm_sdks.mjs API URL: asks through the vendor's own library, streaming, and prints one JSON object:
// {text, stop, in, out, cached} or {status, message}. The key is sk-sdk, the model m.
import { createRequire } from 'node:module'
const need = createRequire(process.env.CLIENTS + '/')
const [api, url] = process.argv.slice(2)
const said = { text: '' }
const messages = [{ role: 'user', content: 'hi' }]

const ask = {
    async 'claude-api'() {
        const Anthropic = need('@anthropic-ai/sdk')
        const c = new (Anthropic.default ?? Anthropic)({ apiKey: 'sk-sdk', baseURL: url, maxRetries: 0 })
        const s = c.messages.stream({ model: 'm', max_tokens: 100, system: 'Be terse.', messages })
        s.on('text', (t) => { said.text += t })
        const m = await s.finalMessage()
        said.stop = m.stop_reason
        const u = m.usage
        Object.assign(said, { in: u.input_tokens + u.cache_creation_input_tokens + u.cache_read_input_tokens,
            out: u.output_tokens, cached: u.cache_read_input_tokens })
        if (m.content[0].text !== said.text) throw new Error('two texts')
    },
    async 'openai-api'() {
        const OpenAI = need('openai')
        const c = new (OpenAI.default ?? OpenAI)({ apiKey: 'sk-sdk', baseURL: url + '/v1', maxRetries: 0 })
        for await (const p of await c.chat.completions.create({ model: 'm', messages, stream: true, stream_options: { include_usage: true } })) {
            said.text += p.choices[0]?.delta.content ?? ''
            said.stop = p.choices[0]?.finish_reason ?? said.stop
            if (p.usage)
                Object.assign(said, { in: p.usage.prompt_tokens, out: p.usage.completion_tokens, cached: p.usage.prompt_tokens_details.cached_tokens })
        }
    },
    async responses() {
        const OpenAI = need('openai')
        const c = new (OpenAI.default ?? OpenAI)({ apiKey: 'sk-sdk', baseURL: url + '/v1', maxRetries: 0 })
        const s = c.responses.stream({ model: 'm', instructions: 'Be terse.', input: messages, store: false })
        s.on('response.output_text.delta', (e) => { said.text += e.delta })
        const r = await s.finalResponse()
        Object.assign(said, { stop: r.status, in: r.usage.input_tokens, out: r.usage.output_tokens, cached: r.usage.input_tokens_details.cached_tokens })
        if (r.output_text !== said.text) throw new Error('two texts: ' + r.output_text)
    },
    async 'gemini-api'() {
        const { GoogleGenAI } = need('@google/genai')
        const c = new GoogleGenAI({ apiKey: 'sk-sdk', httpOptions: { baseUrl: url } })
        const s = await c.models.generateContentStream({ model: 'm', config: { systemInstruction: 'Be terse.' }, contents: 'hi' })
        for await (const p of s) {
            said.text += p.text ?? ''
            said.stop = p.candidates[0].finishReason ?? said.stop
            const u = p.usageMetadata
            Object.assign(said, { in: u.promptTokenCount, out: u.candidatesTokenCount + u.thoughtsTokenCount, cached: u.cachedContentTokenCount })
        }
    },
    async ollama() {
        const { Ollama } = need('ollama')
        const c = new Ollama({ host: url })
        for await (const p of await c.chat({ model: 'm', messages, stream: true })) {
            said.text += p.message.content
            if (p.done) Object.assign(said, { stop: p.done_reason, in: p.prompt_eval_count, out: p.eval_count, cached: 0 })
        }
    },
}
try {
    await ask[api]()
    console.log(JSON.stringify(said))
} catch (e) {
    console.log(JSON.stringify({ status: e.status ?? e.status_code ?? 0, message: e.message }))
}
