#!/usr/bin/env bats
# The page Hub: numbers; keys made, shown once and revoked; identities, roles, rings, leases.
load web

@test "numbers are shown; roles, rings and identities are made; a key is shown once, and revoked" {
    "$CLIQ" emit task "one" >/dev/null
    browse <<'JS'
await signIn('hub');
await page.locator('.stat').filter({ hasText: 'Signals' }).locator('dd b', { hasText: /^1$/ }).waitFor();
const fill = async (button, fields, go) => {
  await click(button);
  for (const [label, value] of Object.entries(fields)) await dialog().getByLabel(label, { exact: true }).fill(value);
  await dialog().getByRole('button', { name: go, exact: true }).click();
  await dialog().waitFor({ state: 'detached' });
};
await fill('Add role', { Name: 'dev', 'What it is for': 'writes <code>' }, 'Add');
await sees('writes <code>');
await fill('Give to… dev', { Identity: 'ruby' }, 'Give');
await fill('Add ring', { Name: 'ops' }, 'Add');
await fill('Let in… ops', { Identity: 'ruby' }, 'Let in');
await page.locator('tr').filter({ hasText: 'ruby' }).filter({ hasText: 'dev' }).filter({ hasText: 'ops' }).waitFor();
await fill('Add identity', { Name: 'ann' }, 'Add');
await page.locator('td b', { hasText: /^ann$/ }).waitFor();
await click('Create key');
await dialog().getByLabel('Whose').fill('ann');
await dialog().getByLabel('emit').uncheck();
await dialog().getByRole('button', { name: 'Create' }).click();
const key = await dialog().getByLabel('The key').inputValue();
assert.match(key, /^cho_[\w-]{43}$/);
const who = (await api('GET', '/whoami', undefined, key)).data;
assert.equal(who.identity, 'ann');
assert.ok(!who.scopes.includes('emit') && who.scopes.includes('claim') && !who.scopes.includes('admin'));
await click('Copy', dialog());
await sees('Copied');
await dialog().getByRole('button', { name: 'Close' }).click();
assert.ok(!(await page.content()).includes(key));
await click('Revoke the key of ann');
await dialog().getByRole('button', { name: 'Revoke' }).click();
await page.getByRole('button', { name: 'Revoke the key of ann' }).waitFor({ state: 'detached' });
assert.equal((await api('GET', '/whoami', undefined, key)).status, 401);
await accessible('hub');
JS
}

@test "leases of files are listed, and ended" {
    mkdir shop && cd shop && "$CLIQ" init >/dev/null
    "$CLIQ" lease take 'src/**' --as ruby --reason "new parser" >/dev/null
    browse <<'JS'
await signIn('hub');
const row = page.locator('tr').filter({ hasText: 'src/**' }).filter({ hasText: 'new parser' });
await row.getByRole('button', { name: 'End' }).click();
await sees('No file is leased.');
JS
}
