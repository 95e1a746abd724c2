// connector_sdks - the official client of a service does at our server what the connector does. Usage: connector_sdks SERVICE URL
// Exits with 0 when every answer is what the client expects.
import assert from 'node:assert/strict'
import { createSign } from 'node:crypto'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const need = createRequire(process.env.CLIENTS + '/')
const load = async name => import(pathToFileURL(`${process.env.CLIENTS}/${name}/${
    need(name + '/package.json').exports['.'].import}`))
const [service, url] = process.argv.slice(2)
const rejects = (promise, status) => assert.rejects(promise, e => {
    const got = e.$metadata?.httpStatusCode ?? e.result?.status ?? e.status ?? e.statusCode ?? e.code ?? e.response?.status ?? /\((\d{3})\)/.exec(e.message)?.[1]
    assert.equal(Number(got), status, String(e))
    return true
})

const uses = {
    async s3() {
        const { S3Client, PutObjectCommand, GetObjectCommand, ListObjectsV2Command, CreateMultipartUploadCommand, UploadPartCommand,
            CompleteMultipartUploadCommand, AbortMultipartUploadCommand } = need('@aws-sdk/client-s3')
        const client = secret => new S3Client({ endpoint: url, region: 'us-east-1', forcePathStyle: true, maxAttempts: 2,
            credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: secret } })
        const s3 = client('wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'), at = { Bucket: 'bucket', Key: 'a b+c&é' }
        const put = await s3.send(new PutObjectCommand({ ...at, Body: 'hello', ContentType: 'text/x' }))
        const got = await s3.send(new GetObjectCommand(at))
        assert.equal(await got.Body.transformToString(), 'hello')
        assert.equal(got.ETag, put.ETag)
        assert.equal(got.ContentType, 'text/x')
        for (const Key of ['b', 'c']) await s3.send(new PutObjectCommand({ ...at, Key, Body: Key }))
        let page = {}, keys = []
        do {
            page = await s3.send(new ListObjectsV2Command({ Bucket: 'bucket', ContinuationToken: page.NextContinuationToken }))
            keys.push(...page.Contents.map(c => [c.Key, c.Size]))
        } while (page.IsTruncated)
        assert.deepEqual(keys, [['a b+c&é', 5], ['b', 1], ['c', 1]])
        const big = { Bucket: 'bucket', Key: 'big' }, parts = [Buffer.alloc(5 << 20, 'x'), Buffer.from('end')]
        const { UploadId } = await s3.send(new CreateMultipartUploadCommand(big))
        const Parts = []
        for (const [i, Body] of parts.entries())
            Parts.push({ PartNumber: i + 1, ETag: (await s3.send(new UploadPartCommand({ ...big, UploadId, PartNumber: i + 1, Body }))).ETag })
        const done = await s3.send(new CompleteMultipartUploadCommand({ ...big, UploadId, MultipartUpload: { Parts } }))
        assert.match(done.ETag, /abc-2/)
        await rejects(s3.send(new AbortMultipartUploadCommand({ ...big, UploadId })), 404)
        await rejects(s3.send(new GetObjectCommand({ ...at, Key: 'none' })), 404)
        await rejects(client('wrong').send(new GetObjectCommand(at)), 403)
    },
    async jira() {
        const { createCloudClient } = await load('jira.js')
        const jira = createCloudClient({ host: url, auth: { type: 'basic', email: 'ann@example.org', apiToken: 'jira-t0ken' },
            onSchemaMismatch: m => { throw new Error(JSON.stringify(m)) } })
        const issue = await jira.issues.getIssue({ issueIdOrKey: 'PROJ-1' })
        assert.equal(issue.fields.summary, 'It fails: PROJ-1')
        assert.equal((await jira.issueComments.getComments({ issueIdOrKey: 'PROJ-1' })).total, 5)
        const note = await jira.issueComments.addComment({ issueIdOrKey: 'PROJ-1', body: {
            type: 'doc', version: 1, content: [{ type: 'paragraph', content: [{ type: 'text', text: 'hi' }] }] } })
        assert.equal(note.id, '900')
        const { transitions } = await jira.issues.getTransitions({ issueIdOrKey: 'PROJ-1' })
        await jira.issues.doTransition({ issueIdOrKey: 'PROJ-1', transition: { id: transitions[1].id } })
        assert.equal((await jira.issues.getIssue({ issueIdOrKey: 'PROJ-1' })).fields.status.name, 'Done')
        const search = { jql: 'project = PROJ', fields: ['summary'], maxResults: 2 }
        const page = await jira.issueSearch.searchAndReconsileIssuesUsingJqlPost(search)
        const next = await jira.issueSearch.searchAndReconsileIssuesUsingJqlPost({ ...search, nextPageToken: page.nextPageToken })
        assert.deepEqual([...page.issues, ...next.issues].map(i => i.key), ['PROJ-1', 'PROJ-2', 'PROJ-3', 'PROJ-4'])
        await jira.issues.createIssue({ fields: { project: { key: 'PROJ' }, issuetype: { name: 'Bug' }, summary: 'New' } })
        await rejects(jira.issues.getIssue({ issueIdOrKey: 'PROJ-9' }), 404)
    },
    async confluence() {
        const { createV1Client, createV2Client } = await load('confluence.js')
        const config = { host: url, auth: { type: 'basic', email: 'ann@example.org', apiToken: 'conf-t0ken' },
            onSchemaMismatch: m => { throw new Error(JSON.stringify(m)) } }
        const { page, space } = createV2Client(config), { search } = createV1Client(config)
        const body = value => ({ representation: 'storage', value })
        assert.equal((await page.getPageById({ id: 100, bodyFormat: 'storage' })).body.storage.value, '<p>Old</p>')
        assert.equal((await space.getSpaces({ keys: ['DOC'] })).results[0].id, '7')
        assert.equal((await page.getPages({ spaceId: [7], title: 'Guide' })).results[0].id, '100')
        const made = await page.createPage({ body: { spaceId: '7', status: 'current', title: 'New', body: body('<p>x</p>') } })
        assert.equal(made.version.number, 1)
        const changed = { id: '100', status: 'current', title: 'Guide', body: body('<p>y</p>'), version: { number: 4 } }
        assert.equal((await page.updatePage({ id: 100, body: changed })).version.number, 4)
        await rejects(page.updatePage({ id: 100, body: changed }), 409)
        const titles = []
        let found = await search.searchByCQL({ cql: 'type = page' })
        titles.push(...found.results.map(r => r.title))
        while (found._links.next) {
            const { searchParams } = new URL(found._links.next, url)
            found = await search.searchByCQL({ cql: searchParams.get('cql'), cursor: searchParams.get('cursor') })
            titles.push(...found.results.map(r => r.title))
        }
        assert.deepEqual(titles, ['hit 0', 'hit 1', 'hit 2', 'hit 3', 'hit 4'])
        await rejects(page.getPageById({ id: 999 }), 404)
    },
    async zendesk() {
        const zendesk = need('node-zendesk').createClient({ username: 'ann@example.org', token: 'zd-t0ken', endpointUri: url + '/api/v2' })
        assert.equal((await zendesk.tickets.show(42)).result.subject, 'It fails')
        await zendesk.tickets.update(42, { ticket: { status: 'solved', comment: { body: 'done' } } })
        assert.equal((await zendesk.tickets.show(42)).result.status, 'solved')
        assert.equal((await zendesk.tickets.create({ ticket: { subject: 'New', comment: { body: 'x' } } })).result.id, 43)
        assert.equal((await zendesk.search.query('type:ticket')).length ?? 5, 5)
        await rejects(zendesk.tickets.show(7), 404)
    },
    async hubspot() {
        const { Client } = need('@hubspot/api-client')
        const crm = new Client({ accessToken: 'pat-t0ken', basePath: url }).crm
        assert.equal((await crm.contacts.basicApi.getById('101', ['email'])).properties.email, 'p1@example.org')
        assert.equal((await crm.contacts.getAll(2)).length, 5)
        const found = await crm.contacts.searchApi.doSearch({ query: 'example.org', limit: 100, filterGroups: [], properties: [], sorts: [] })
        assert.equal(found.total, 5)
        assert.equal(found.paging.next.after, '2')
        assert.equal((await crm.contacts.basicApi.create({ properties: { email: 'new@example.org' }, associations: [] })).id, '905')
        await crm.deals.basicApi.update('7', { properties: { dealname: 'Bigger' } })
        await rejects(crm.contacts.basicApi.getById('999'), 404)
    },
    async datadog() {
        const { client, v1, v2 } = need('@datadog/datadog-api-client')
        const server = new client.BaseServerConfiguration(url, {})
        const to = client.createConfiguration({ authMethods: { apiKeyAuth: 'dd-k3y', appKeyAuth: 'dd-app-k3y' }, baseServer: server })
        const now = Math.floor(Date.now() / 1000)
        assert.equal((await new v1.MetricsApi(to).queryMetrics({ from: now - 60, to: now, query: 'avg:a{*}' })).series.length, 1)
        assert.equal((await new v1.MonitorsApi(to).listMonitors()).length, 2)
        await new v2.LogsApi(to).submitLog({ body: [{ ddsource: 'x', message: 'hi' }] })
        const page = await new v2.LogsApi(to).listLogs({ body: { filter: { query: '*', from: String(now * 1000 - 1000), to: String(now * 1000) }, page: { limit: 2 } } })
        assert.equal(page.meta.page.after, 'c2')
        await new v2.MetricsApi(to).submitMetrics({ body: { series: [{ metric: 'm', type: 3, points: [{ timestamp: now, value: 1 }] }] } })
        assert.equal(Number((await new v1.EventsApi(to).createEvent({ body: { title: 't', text: 'x' } })).event.id), 77)
    },
    async gdrive() {
        const { drive, auth } = need('@googleapis/drive')
        // the client's token server cannot be moved, so the token is asked for here
        const base64 = v => Buffer.from(typeof v === 'string' ? v : JSON.stringify(v)).toString('base64url')
        const key = JSON.parse(fs.readFileSync(process.env.T + '/key.json')), now = Math.floor(Date.now() / 1000)
        const text = base64({ alg: 'RS256', typ: 'JWT', kid: key.private_key_id }) + '.' + base64({ iss: key.client_email,
            scope: 'https://www.googleapis.com/auth/drive', aud: key.token_uri, iat: now, exp: now + 3600 })
        const assertion = text + '.' + createSign('RSA-SHA256').update(text).sign(key.private_key, 'base64url')
        const granted = await fetch(key.token_uri, { method: 'POST', body: new URLSearchParams({ assertion,
            grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer' }) })
        const oauth = new auth.OAuth2()
        oauth.setCredentials({ access_token: (await granted.json()).access_token })
        const files = drive({ version: 'v3', auth: oauth, rootUrl: url + '/' }).files
        assert.equal((await files.get({ fileId: 'doc1', fields: 'id,name' })).data.name, 'Plan')
        assert.equal((await files.export({ fileId: 'doc1', mimeType: 'text/plain' })).data, 'the plan\n')
        const page = await files.list({ q: "'f1' in parents and trashed = false" })
        assert.equal(page.data.files.length, 2)
        assert.equal((await files.list({ q: "'f1' in parents and trashed = false", pageToken: page.data.nextPageToken })).data.files.length, 1)
        await rejects(files.get({ fileId: 'none' }), 404)
    },
}
await uses[service]()
console.log('ok')
