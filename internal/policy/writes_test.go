package policy

import (
	"strings"
	"testing"

	"adze/tool"
)

// An operand that a program writes is a place like any: a rule for the program does
// not mean one outside of the workspace, nor a file by which another program runs something.
func TestARuleForAProgramIsNoRuleForEachPlaceThatItWrites(t *testing.T) {
	rules := []string{"allow execute(tee **)", "allow execute(tar **)", "allow execute(cp **)", "allow execute(mv **)", "allow execute(dd **)", "allow execute(ln **)", "allow execute(touch **)", "allow execute(mkdir **)",
		"allow execute(rsync **)", "allow execute(install **)", "allow execute(zip **)", "allow execute(unzip **)", "allow execute(rm **)", "allow execute(truncate **)", "allow execute(tee /srv/named)", "allow read"}
	for command, asked := range map[string]bool{
		"tee /srv/a < app.txt": true, "tee -a out /srv/a < app.txt": true, "tee ../beside < app.txt": true, "tee ~/notes < app.txt": true, "tee .envrc < app.txt": true,
		"tee sub/.npmrc < app.txt": true, "timeout 5 tee /srv/a < app.txt": true,
		"tar cf /srv/a.tar sub": true, "tar -cf /srv/a.tar sub": true, "tar -c -f /srv/a.tar sub": true, "tar --create --file=/srv/a.tar sub": true, "tar czf ../a.tgz sub": true,
		"tar cfC /srv/a.tar sub .": true, "tar rf /srv/a.tar sub": true, "tar xf a.tar -C /srv": true, "tar -xf a.tar --directory=/srv": true,
		"cp app.txt /srv/a": true, "cp -t /srv app.txt": true, "cp --target-directory=/srv app.txt": true, "mv app.txt /srv/a": true, "mv /srv/a app.txt": true, "dd if=app.txt of=/srv/a": true,
		"ln -s sub /srv/a": true, "touch /srv/a": true, "mkdir -p /srv/a": true, "rsync -a sub/ /srv/a": true, "install -m 755 app.txt /srv/a": true, "zip /srv/a.zip app.txt": true,
		"unzip a.zip -d /srv": true, "rm -f /srv/a": true, "truncate -s 0 /srv/a": true, "cp app.txt .vscode/tasks.json": true,

		"tee out < app.txt": false, "tee sub/out out2 < app.txt": false, "tee /srv/named < app.txt": false, "tar cf a.tar sub": false, "tar czf sub/a.tgz sub": false, "tar xf a.tar -C sub": false,
		"tar xf /srv/a.tar": false, "tar tf /srv/a.tar": false, "cp /srv/a sub": false, "cp app.txt sub": false, "mv app.txt sub": false, "dd if=/srv/a of=out": false, "ln -s /srv/a sub/l": false,
		"rsync -a /srv/a/ sub": false, "zip a.zip app.txt": false, "unzip /srv/a.zip -d sub": false, "mkdir -p sub/x": false, "tee /dev/null < app.txt": false,
	} {
		for _, mode := range []Mode{AskFirst, Edits} {
			p := newPolicy(t, mode, nil, rules...)
			d, err := p.Decide(t.Context(), tool.Question{Needs: []tool.Need{{Permission: tool.Execute, Target: command}}})
			if err != nil || d.Allow == asked {
				t.Errorf("%s: %s: allowed: %v (%s), %v", mode, command, d.Allow, d.Reason, err)
			}
			if asked && !strings.Contains(d.Reason, "outside the workspace") && !strings.Contains(d.Reason, "another program") {
				t.Errorf("%s: asked, but for: %s", command, d.Reason)
			}
		}
	}
}
