package config

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tailscale/hujson"

	"adze/internal/jsonc"
)

// AddAllow adds rules to the person's file; comments and all else stay as they are. Rules that are there
// already are not added again.
func AddAllow(path string, rules ...string) error {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		raw, err = []byte("{}\n"), nil
	}
	if err != nil {
		return err
	}
	before, err := Parse(path, raw)
	if err != nil {
		return err // a file with a mistake is not touched
	}
	next, err := withRules(raw, before.Allow, rules)
	if err != nil || bytes.Equal(next, raw) {
		return err
	}
	if _, err := Parse(path, next); err != nil {
		return err
	}
	return replaceFile(path, next)
}

// withRules appends to the list in the syntax tree, so that comments stay where they are.
func withRules(raw []byte, have, rules []string) ([]byte, error) {
	text, err := jsonc.Text(raw)
	if err != nil {
		return nil, err
	}
	v, err := hujson.Parse(text)
	if err != nil {
		return nil, err
	}
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New("the file holds no object")
	}
	list := listIn(object, "allow")
	known := slices.Clone(have)
	for _, r := range rules {
		if !slices.Contains(known, r) {
			known = append(known, r)
			list.Elements = append(list.Elements, hujson.Value{Value: hujson.String(r)})
		}
	}
	if len(known) == len(have) {
		return raw, nil
	}
	v.Format()
	return v.Pack(), nil
}

// listIn finds a list by its name, or makes an empty one at the end.
func listIn(object *hujson.Object, name string) *hujson.Array {
	for _, m := range object.Members {
		key, ok := m.Name.Value.(hujson.Literal)
		if list, isList := m.Value.Value.(*hujson.Array); ok && isList && key.String() == name {
			return list
		}
	}
	list := &hujson.Array{}
	object.Members = append(object.Members, hujson.ObjectMember{
		Name: hujson.Value{Value: hujson.String(name)}, Value: hujson.Value{Value: list},
	})
	return list
}

// replaceFile leaves the old file or the whole new one, whatever happens. A link is followed: people keep
// their configuration elsewhere.
func replaceFile(path string, data []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".config-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already when all went well
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
