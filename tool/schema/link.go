package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"adze/tool/laxjson"
)

// linker copies the schemas that an author gave for outside references into the definitions of the
// schema that refers to them, so that nothing outside is needed any more. Nothing is ever fetched.
type linker struct {
	given   map[string]json.RawMessage
	names   map[string]string // reference without fragment → name among the definitions
	waiting []string          // references whose schemas still have to be copied
	keyword string            // $defs, or definitions in draft 7
	taken   map[string]bool
	draft7  bool
}

// Link returns a schema whose references that are in given lead into itself. All others stay as
// they are, for Check to judge; a schema that needs none keeps its bytes.
func Link(schema json.RawMessage, given map[string]json.RawMessage) (json.RawMessage, error) {
	if len(given) == 0 || len(schema) == 0 {
		return schema, nil
	}
	root, err := readSchema(schema)
	if err != nil {
		return nil, err
	}
	l := linker{given: given, names: map[string]string{}, taken: map[string]bool{}, keyword: "$defs", draft7: treeDraft7(root)}
	if l.draft7 {
		l.keyword = "definitions"
	}
	defs := root.Child(l.keyword)
	if defs == nil {
		defs = &laxjson.Tree{Kind: laxjson.Object}
	}
	for _, name := range defs.Names {
		l.taken[name] = true
	}
	if err := l.schema(root, ""); err != nil {
		return nil, err
	}
	if err := l.copyTo(defs); err != nil || len(l.names) == 0 {
		return schema, err
	}
	root.Set(l.keyword, defs)
	return json.RawMessage(root.String()), nil
}

// copyTo adds every schema that is referred to, also by those that are added.
func (l *linker) copyTo(defs *laxjson.Tree) error {
	for len(l.waiting) > 0 {
		uri := l.waiting[0]
		l.waiting = l.waiting[1:]
		doc, err := readSchema(l.given[uri])
		if err != nil {
			return fmt.Errorf("reference %s: %w", uri, err)
		}
		if doc.Child("$schema") != nil && treeDraft7(doc) != l.draft7 {
			return fmt.Errorf("reference %s: it is of another draft than the schema that refers to it", uri)
		}
		doc.Remove("$id")
		doc.Remove("$schema")
		if err := l.schema(doc, "/"+l.keyword+"/"+l.names[uri]); err != nil {
			return fmt.Errorf("reference %s: %w", uri, err)
		}
		defs.Set(l.names[uri], doc)
	}
	return nil
}

// schema rewrites the references of a schema and of all that lies in it. home is where its document
// will stand; if empty, it is the root.
func (l *linker) schema(node *laxjson.Tree, home string) error {
	for i, name := range node.Names {
		child := node.Items[i]
		var err error
		switch {
		case dataKeyword(name):
		case refKeyword(name) && child.Kind == laxjson.String:
			child.Text, err = l.reference(child.Text, home)
		case home != "" && (name == "$anchor" || name == "$dynamicAnchor"):
			err = errors.New("anchors are not supported in a schema given by Refs; refer to it by JSON pointers")
		case nameKeyword(name):
			err = l.all(child.Items, home)
		default:
			err = l.schema(child, home)
		}
		if err != nil {
			return err
		}
	}
	if node.Kind == laxjson.Array {
		return l.all(node.Items, home)
	}
	return nil
}

func (l *linker) all(nodes []*laxjson.Tree, home string) error {
	for _, node := range nodes {
		if err := l.schema(node, home); err != nil {
			return err
		}
	}
	return nil
}

// reference turns a reference of a document into one of the whole.
func (l *linker) reference(ref, home string) (string, error) {
	uri, fragment, _ := strings.Cut(ref, "#")
	if uri == "" && home == "" {
		return ref, nil
	}
	if _, ok := l.given[uri]; !ok && uri != "" {
		return ref, nil
	}
	if fragment != "" && fragment[0] != '/' {
		return "", fmt.Errorf("reference %s goes to an anchor; use a JSON pointer", ref)
	}
	if uri == "" {
		return "#" + home + fragment, nil
	}
	return "#/" + l.keyword + "/" + l.name(uri) + fragment, nil
}

// name finds or makes the name of a document among the definitions, from the last step of its
// reference.
func (l *linker) name(uri string) string {
	if name, ok := l.names[uri]; ok {
		return name
	}
	stem := strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z') {
			return r
		}
		return '_'
	}, strings.TrimSuffix(path.Base(uri), path.Ext(uri)))
	name := stem
	for n := 2; l.taken[name]; n++ {
		name = fmt.Sprintf("%s_%d", stem, n)
	}
	l.taken[name], l.names[uri] = true, name
	l.waiting = append(l.waiting, uri)
	return name
}

// readSchema reads a schema with its properties in their order.
func readSchema(raw json.RawMessage) (*laxjson.Tree, error) {
	var did laxjson.Steps
	root, ok := laxjson.Read(string(raw), &did)
	if !ok || len(did) > 0 || !json.Valid(raw) {
		return nil, errors.New("the schema is not valid JSON")
	}
	return root, nil
}

func treeDraft7(t *laxjson.Tree) bool {
	version := t.Child("$schema")
	return version != nil && strings.Contains(version.Text, "draft-07")
}
