package config

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tailscale/hujson"

	"adze/internal/osfile/atomicfile"
	"adze/internal/osfile/filelock"
	"adze/internal/text/jsonc"
)

// AddRules adds rules to a list in the user's file (allow, ask or deny), preserving comments and
// all other content. It returns the rules that were new.
func AddRules(path, list string, rules ...string) (added []string, err error) {
	err = edit(path, func(object *hujson.Object) bool {
		in := listIn(object, list)
		if in == nil {
			in = newList(object, list)
		}
		for _, r := range rules {
			if !slices.Contains(texts(in), r) {
				added = append(added, r)
				in.Elements = append(in.Elements, hujson.Value{Value: hujson.String(r)})
			}
		}
		return len(added) > 0
	})
	return added, err
}

// RemoveRules removes rules from a list in the user's file, with their preceding comments, and
// returns those found.
func RemoveRules(path, list string, rules ...string) (removed []string, err error) {
	err = edit(path, func(object *hujson.Object) bool {
		in := listIn(object, list)
		if in == nil {
			return false
		}
		in.Elements = slices.DeleteFunc(in.Elements, func(v hujson.Value) bool {
			text := text(v)
			if !slices.Contains(rules, text) {
				return false
			}
			removed = append(removed, text)
			return true
		})
		return len(removed) > 0
	})
	return removed, err
}

// edit changes the file's syntax tree, which preserves comments. It reads and writes under one
// lock, so that concurrent processes lose nothing. An invalid or unchanged file is not written.
func edit(path string, change func(*hujson.Object) bool) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	unlock, err := filelock.Wait(context.Background(), path+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	raw, err := Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		raw, err = []byte("{}\n"), nil
	}
	if err != nil {
		return err
	}
	if _, err := Parse(path, raw); err != nil {
		return err
	}
	text, err := jsonc.Text(raw)
	if err != nil {
		return err
	}
	v, err := hujson.Parse(text)
	if err != nil {
		return err
	}
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return errors.New("the file holds no object")
	}
	if !change(object) {
		return nil
	}
	v.Format()
	if _, err := Parse(path, v.Pack()); err != nil {
		return err
	}
	return atomicfile.Rewrite(path, v.Pack())
}

// text returns a string value, or "".
func text(v hujson.Value) string {
	if literal, ok := v.Value.(hujson.Literal); ok && literal.Kind() == '"' {
		return literal.String()
	}
	return ""
}

func texts(list *hujson.Array) []string {
	var out []string
	for _, v := range list.Elements {
		out = append(out, text(v))
	}
	return out
}

func listIn(object *hujson.Object, name string) *hujson.Array {
	for _, m := range object.Members {
		key, ok := m.Name.Value.(hujson.Literal)
		if list, isList := m.Value.Value.(*hujson.Array); ok && isList && key.String() == name {
			return list
		}
	}
	return nil
}

func newList(object *hujson.Object, name string) *hujson.Array {
	list := &hujson.Array{}
	object.Members = append(object.Members, hujson.ObjectMember{
		Name: hujson.Value{Value: hujson.String(name)}, Value: hujson.Value{Value: list},
	})
	return list
}
