package git

import (
	"bytes"
	"context"
	"crypto/sha256"
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
	out, err := g.onObjects(ctx, o, nil, strings.Join(ids, "\n")+"\n", "cat-file", "--batch-check")
	for line := range strings.Lines(out) {
		if id, ok := strings.CutSuffix(strings.TrimSpace(line), " missing"); ok {
			lacks[id] = true
		}
	}
	return lacks, err
}

// Complete returns an error if an object is missing that ids or index files need, with all that it
// reaches. Objects reachable from known are not checked.
func (g Git) Complete(ctx context.Context, o Objects, indexes [][]byte, ids, known []string) error {
	in := strings.Join(append(ids, ""), "\n")
	for _, id := range known {
		in += "^" + id + "\n"
	}
	args := []string{"rev-list", "--objects", "--quiet", "--stdin"}
	if len(ids) > 0 && len(indexes) == 0 {
		if _, err := g.onObjects(ctx, o, nil, in, args...); err != nil {
			return err
		}
	}
	for _, index := range indexes {
		if _, err := g.onObjects(ctx, o, index, in, append(args, "--indexed-objects")...); err != nil {
			return err
		}
	}
	return nil
}

// SameIndex reports whether two index files list the same entries, ignoring stat data.
func (g Git) SameIndex(ctx context.Context, a, b []byte) bool {
	x, err := g.listed(ctx, a)
	y, err2 := g.listed(ctx, b)
	return err == nil && err2 == nil && x == y
}

func (g Git) listed(ctx context.Context, index []byte) (string, error) {
	end := max(0, len(index)-sha256.Size)
	sum := sha256.Sum256(index[:end])
	return g.onObjects(ctx, Objects{SHA256: bytes.Equal(sum[:], index[end:])}, index, "", "ls-files", "-v", "--stage", "-z")
}

// onObjects runs git in a temporary repository that has only these objects and perhaps an index.
func (g Git) onObjects(ctx context.Context, o Objects, index []byte, in string, args ...string) (string, error) {
	dir, err := o.view(index)
	if dir != "" {
		defer os.RemoveAll(dir)
	}
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	r := &Repo{git: g, dir: dir, Top: dir}
	_, err = r.run(ctx, call{args: args, options: []string{"--git-dir=" + dir}, input: []byte(in), whole: true, stream: func(b []byte) { out.Write(b) }})
	return out.String(), err
}

// view creates an empty repository that borrows the objects and has an index, if it is not nil.
func (o Objects) view(index []byte) (dir string, err error) {
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
	if index != nil {
		files["index"] = string(index)
	}
	for name, text := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir, err
}
