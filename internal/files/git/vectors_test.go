package git

import (
	"maps"
	"slices"
	"testing"

	"adze/internal/testkit/effort"
)

// vector is a way to make git run a program. plain is a command of the unhardened git that falls
// for it, which shows that the trap works; "" where that needs a terminal.
type vector struct {
	plant, plain string
	dir          string // where the hardened git works, below the work tree
	refused      bool   // the repository is not read at all
	extra        []string
}

func vectors() map[string]vector {
	filter := func(name, setting string) string {
		return `echo 'f filter=` + name + `' > .gitattributes; git config 'filter.` + name + `.` + setting + `' "$CANARY"; touch -d 2020-01-01 f; echo changed >> f`
	}
	hook := func(name, event string) string {
		return `git config 'hook.` + name + `.command' "$CANARY"; git config 'hook.` + name + `.event' ` + event + `; `
	}
	byBranch := func(text string) string {
		return `printf '` + text + `' "$CANARY" > deep; printf '[include]\npath = deep\n' > inc; git config includeIf.onbranch:fresh.path ../inc`
	}
	onBranch := `git worktree add -q ../plain -b fresh || true; cd ../plain; touch f; git status; git branch elsewhere; cd "$WORK"; git worktree remove --force ../plain; git branch -D fresh elsewhere`
	signed := func(kind string) string {
		return `git cat-file commit HEAD | sed '/^committer/a gpgsig -----BEGIN ` + kind + ` SIGNATURE-----\n \n AAAA\n -----END ` + kind + ` SIGNATURE-----' > ../c
			git update-ref HEAD $(git hash-object -t commit -w ../c); git config log.showSignature true; `
	}
	lacking := `git config extensions.partialClone evil; git config core.repositoryFormatVersion 1; git config remote.evil.promisor true
		blob=$(git rev-parse HEAD:f); rm -f .git/objects/$(echo $blob | cut -c1-2)/$(echo $blob | cut -c3-); echo changed >> f; `
	return map[string]vector{
		"fsmonitor":                       {plant: `git config core.fsmonitor "$CANARY"`, plain: "git status"},
		"fsmonitor of an included":        {plant: `printf '[core]\nfsmonitor = %s\n' "$CANARY" > inc; git config includeIf.gitdir:**/.git.path "$WORK/inc"`, plain: "git status"},
		"fsmonitor by branch":             {plant: `printf '[core]\nfsmonitor = %s\n' "$CANARY" > inc; git config includeIf.onbranch:main.path "$WORK/inc"`, plain: "git status"},
		"fsmonitor of a work tree":        {plant: `git config extensions.worktreeConfig true; git config --worktree core.fsmonitor "$CANARY"`, plain: "git status"},
		"post-index-change":               {plant: `cp "$CANARY" .git/hooks/post-index-change; touch f`, plain: "git status"},
		"reference-transaction":           {plant: `cp "$CANARY" .git/hooks/reference-transaction; touch f`, plain: "git branch other"},
		"configured hook":                 {plant: hook("evil", "post-index-change") + `touch f`, plain: "git status"},
		"configured hook of a reference":  {plant: hook("evil", "reference-transaction"), plain: "git branch other"},
		"configured hooks of an odd name": {plant: hook("É v.il", "post-index-change") + hook("", "post-index-change") + `touch f`, plain: "git status"},
		"configured hook with an equals":  {plant: hook("e=vil", "post-index-change") + `touch f`, plain: "git status", refused: true},
		"configured hook of an included":  {plant: `printf '[hook "evil"]\ncommand = %s\nevent = post-index-change\n' "$CANARY" > inc; git config include.path "$WORK/inc"; touch f`, plain: "git status"},
		"configured hook of a work tree":  {plant: `git config extensions.worktreeConfig true; git config --worktree hook.evil.command "$CANARY"; git config --worktree hook.evil.event post-checkout`, plain: "git checkout -q main"},
		"configured hook by branch":       {plant: byBranch("[hook \"evil\"]\ncommand = %s\nevent = post-index-change\nevent = post-checkout\nevent = reference-transaction\n"), plain: onBranch},
		"filter by branch":                {plant: `echo 'f filter=evil' > .gitattributes; git add .; git commit -qm a; ` + byBranch("[filter \"evil\"]\nsmudge = %s\n"), plain: onBranch + "; rm f; git checkout f"},
		"hooksPath":                       {plant: `mkdir h; cp "$CANARY" h/post-index-change; git config core.hooksPath h; touch f`, plain: "git status"},
		"external diff":                   {plant: `git config diff.external "$CANARY"; echo changed >> f`, plain: "git diff"},
		"diff driver":                     {plant: `echo 'f diff=evil' > .gitattributes; git config diff.evil.command "$CANARY"; echo changed >> f`, plain: "git diff"},
		"textconv":                        {plant: `echo 'f diff=evil' > .gitattributes; git config diff.evil.textconv "$CANARY"; echo changed >> f`, plain: "git diff"},
		"clean filter":                    {plant: filter("evil", "clean"), plain: "git diff"},
		"clean filter at status":          {plant: filter("evil", "clean") + `; git add f 2> /dev/null; touch -d 2021-01-01 f`, plain: "git --no-optional-locks status"},
		"filter process":                  {plant: filter("evil", "process"), plain: "git diff || true"},
		"filter of a dotted name":         {plant: filter("e.v.il", "clean"), plain: "git diff"},
		"filter of an odd name":           {plant: filter("Évil", "clean"), plain: "git diff"},
		"filter with an equals":           {plant: filter("e=vil", "clean"), plain: "git diff", refused: true},
		"filter in info": {plant: `mkdir -p .git/info; echo 'f filter=evil' > .git/info/attributes; git config filter.evil.clean "$CANARY"; git config filter.evil.required true
			touch -d 2020-01-01 f; echo changed >> f`, plain: "git diff"},
		"filter of an included": {plant: `echo 'f filter=evil' > .gitattributes; printf '[filter "evil"]\nclean = %s\n' "$CANARY" > inc; git config include.path "$WORK/inc"; echo changed >> f`, plain: "git diff"},
		"filter of a submodule": {plant: `git init -q sub; (cd sub; echo 1 > s; git add s; git commit -qm s; echo 's filter=evil' > .gitattributes; git config filter.evil.clean "$CANARY"; touch -d 2020-01-01 s)
			git add sub 2> /dev/null; git commit -qm sub; git config diff.submodule diff; git config submodule.recurse true; git config diff.ignoreSubmodules none`, plain: "git --no-optional-locks status"},
		"bare repository below": {plant: `git init -q --bare sub; cd sub; git config core.bare false; git config core.worktree "$WORK"; git config core.fsmonitor "$CANARY"`,
			plain: "cd sub; git status || true", dir: "sub", refused: true},
		"pager":         {plant: `git config core.pager "$CANARY"; git config pager.log "$CANARY"; git config pager.status "$CANARY"; git config pager.diff "$CANARY"`},
		"gpg":           {plant: signed("PGP") + `git config gpg.program "$CANARY"`, plain: "git log"},
		"gpg for ssh":   {plant: signed("SSH") + `touch ../signers; git config gpg.ssh.program "$CANARY"; git config gpg.ssh.allowedSignersFile ../signers`, plain: "git log"},
		"gpg for x509":  {plant: signed("SIGNED MESSAGE") + `git config gpg.x509.program "$CANARY"`},
		"lazy fetch":    {plant: lacking + `git config remote.evil.url "$WORK/../other"; git config remote.evil.uploadpack "$CANARY"`, plain: "git diff HEAD || true"},
		"lazy over ssh": {plant: lacking + `git config remote.evil.url ssh://localhost/x; git config core.sshCommand "$CANARY"`, plain: "git diff HEAD || true"},
		"lazy over ext": {plant: lacking + `git config remote.evil.url "ext::$CANARY"; git config protocol.ext.allow always`, plain: "git diff HEAD || true"},
		"environment": {plant: `echo changed >> f`, extra: []string{"GIT_EXTERNAL_DIFF=$CANARY", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsmonitor",
			"GIT_CONFIG_VALUE_0=$CANARY", "GIT_PAGER=$CANARY", "GIT_SSH_COMMAND=$CANARY"}, plain: "git diff"},
		"program in the work tree": {plant: `mkdir bin; cp "$CANARY" bin/git`, extra: []string{"PATH=$WORK/bin:$PATH"}, plain: "git status"},
		"program above the folder": {plant: `mkdir bin sub; cp "$CANARY" bin/git`, extra: []string{"PATH=$WORK/bin:$PATH"}, plain: "git status", dir: "sub"},
	}
}

// someVectors are all of them, or every third in a usual run.
func someVectors() map[string]vector {
	all := vectors()
	for i, name := range slices.Sorted(maps.Keys(all)) {
		if i%effort.Rounds(3, 1, 1) != 0 {
			delete(all, name)
		}
	}
	return all
}

func TestNothingThatARepositoryNamesIsRun(t *testing.T) {
	for name, v := range someVectors() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.sh(v.plant)
			d.sang()
			for _, kv := range v.extra {
				d.extra = append(d.extra, d.expand(kv))
			}
			if v.plain != "" {
				out, _ := d.try(v.plain)
				if len(d.sang()) == 0 {
					t.Skipf("the installed git does not fall for it, so nothing is shown here: %s", out)
				}
			}
			d.askEverything(v)
			if songs := d.sang(); len(songs) > 0 {
				t.Errorf("ran %q", songs)
			}
		})
	}
}

func (d *desk) expand(kv string) string {
	out, err := d.try(`printf %s "` + kv + `"`)
	if err != nil {
		d.Fatal(err)
	}
	return string(out)
}

// askEverything calls all that this package can ask. What it answers does not matter here, but it
// must not be refused before git was asked.
func (d *desk) askEverything(v vector) {
	d.Helper()
	ctx := d.Context()
	r, err := d.git().Open(ctx, d.work+"/"+v.dir)
	if v.refused {
		if err == nil {
			d.Error("the repository was not refused")
		}
		return
	}
	if err != nil {
		d.Fatal(err)
	}
	answered := 0
	note := func(err error) {
		if err == nil {
			answered++
		} else {
			d.Logf("%v", err)
		}
	}
	for _, u := range []string{"no", UntrackedNormal, UntrackedAll} {
		_, err = r.Status(ctx, ".", u, 10)
		note(err)
	}
	for _, q := range []DiffQuery{{}, {Staged: true}, {Base: "HEAD"}, {Base: "HEAD~1"}} {
		q.Path, q.MaxFiles, q.MaxBytes = ".", 10, 1<<16
		_, err = r.Diff(ctx, q)
		note(err)
	}
	_, err = r.Subjects(ctx, 10)
	note(err)
	_, err = r.ExternalPaths(ctx, d.work)
	note(err)
	d.workInATree(r, note)
	if answered < 8 {
		d.Errorf("only %d questions were answered", answered)
	}
}

// workInATree makes a work tree on a branch of its own, looks at it and takes it away.
func (d *desk) workInATree(r *Repo, note func(error)) {
	ctx, path := d.Context(), d.home+"/tree"
	head, err := r.Resolve(ctx, "HEAD")
	note(err)
	note(r.AddWorktree(ctx, path, "fresh", head))
	if len(d.extra) == 0 { // PATH may lead into the work tree that is not this one
		tree, err := d.git().Open(ctx, path)
		if err == nil {
			_, err = tree.Status(ctx, ".", UntrackedAll, 10)
		}
		note(err)
	}
	note(r.RemoveWorktree(ctx, path))
	note(r.DeleteBranch(ctx, "fresh", head))
}
