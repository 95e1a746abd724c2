// The mail server of the Nodemailer project: node smtp.mjs DIR CERT KEY MECHANISM. Writes each mail to DIR/mails,
// one JSON object a line, and its port to DIR/port. User eve, password s3cret-pass, only after STARTTLS.
import { createRequire } from 'node:module'
import fs from 'node:fs'
const { SMTPServer } = createRequire(process.env.CLIENTS + '/')('smtp-server')
const [dir, cert, key, mechanism] = process.argv.slice(2)

const server = new SMTPServer({
    cert: fs.readFileSync(cert),
    key: fs.readFileSync(key),
    authMethods: [mechanism],
    onAuth({ username, password, method }, session, done) {
        const good = username === 'eve' && password === 's3cret-pass' && session.secure
        done(good ? null : new Error('no such user'), { user: { method } })
    },
    onData(stream, session, done) {
        const parts = []
        stream.on('data', (part) => parts.push(part))
        stream.on('end', () => {
            const { mailFrom, rcptTo } = session.envelope
            fs.appendFileSync(dir + '/mails', JSON.stringify({
                from: mailFrom.address, to: rcptTo.map((one) => one.address), auth: session.user.method,
                tls: session.secure, text: Buffer.concat(parts).toString('latin1'),
            }) + '\n')
            done()
        })
    },
})
server.on('error', () => {})
server.listen(0, '127.0.0.1', () => {
    fs.writeFileSync(dir + '/port.new', String(server.server.address().port))
    fs.renameSync(dir + '/port.new', dir + '/port')
})
