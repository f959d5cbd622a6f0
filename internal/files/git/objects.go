package git

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// Objects is a repository's object folder. Refs and configuration are not read, so it can check a
// state that does not exist there yet.
type Objects struct {
	Dir    string // object folder, absolute
	SHA256 bool   // the repository uses SHA-256
}

// MissingObjects returns the ids that are not in the folder.
func (g Git) MissingObjects(ctx context.Context, o Objects, ids []string) (lacks map[string]bool, err error) {
	lacks = map[string]bool{}
	if len(ids) == 0 {
		return lacks, nil
	}
	out, err := g.onObjects(ctx, o, strings.Join(ids, "\n")+"\n", "cat-file", "--batch-check")
	for line := range strings.Lines(out) {
		if id, ok := strings.CutSuffix(strings.TrimSpace(line), " missing"); ok {
			lacks[id] = true
		}
	}
	return lacks, err
}

// Complete returns an error if an object reachable from ids is missing. Objects reachable from
// known are not checked.
func (g Git) Complete(ctx context.Context, o Objects, ids, known []string) error {
	if len(ids) == 0 {
		return nil
	}
	in := strings.Join(ids, "\n") + "\n"
	for _, id := range known {
		in += "^" + id + "\n"
	}
	_, err := g.onObjects(ctx, o, in, "rev-list", "--objects", "--quiet", "--stdin")
	return err
}

// onObjects runs git in a temporary repository that has only these objects.
func (g Git) onObjects(ctx context.Context, o Objects, in string, args ...string) (string, error) {
	dir, err := o.view()
	if dir != "" {
		defer os.RemoveAll(dir)
	}
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	r := &Repo{git: g, dir: dir, Top: dir}
	_, err = r.run(ctx, call{args: args, options: []string{"--git-dir=" + dir}, input: []byte(in), stream: func(b []byte) { out.Write(b) }})
	return out.String(), err
}

// view creates an empty repository that borrows the objects.
func (o Objects) view() (dir string, err error) {
	if info, err := os.Stat(o.Dir); err != nil || !info.IsDir() {
		return "", fail(CodeNotFound, ErrNotRepository, "the folder of its objects is not there")
	}
	if dir, err = os.MkdirTemp("", "adze-git-"); err != nil {
		return "", err
	}
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
	if o.SHA256 {
		config = "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n"
	}
	files := map[string]string{"HEAD": "ref: refs/heads/none\n", "config": config, "objects/info/alternates": o.Dir + "\n"}
	for _, folder := range []string{"refs", "objects/info"} {
		err = errors.Join(err, os.MkdirAll(filepath.Join(dir, folder), 0o700))
	}
	for name, text := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir, err
}
