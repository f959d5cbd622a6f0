package config

import (
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// Keep sets a string in the user's file, under a name such as interface.theme, preserving comments
// and all other content.
func Keep(path, name, value string) error {
	var wrong error
	err := edit(path, func(object *hujson.Object) bool {
		names := strings.Split(name, ".")
		for i, n := range names[:len(names)-1] {
			inner, ok := memberOf(object, n, &hujson.Object{}).Value.(*hujson.Object)
			if !ok {
				wrong = fmt.Errorf("%s is not an object", strings.Join(names[:i+1], "."))
				return false
			}
			object = inner
		}
		v := memberOf(object, names[len(names)-1], hujson.Literal("null"))
		if literal, ok := v.Value.(hujson.Literal); ok && literal.Kind() == '"' && literal.String() == value {
			return false
		}
		v.Value = hujson.String(value)
		return true
	})
	if wrong != nil {
		return wrong
	}
	return err
}

// memberOf finds a value by name, ignoring case as JSON decoding does, or adds it with the
// fallback.
func memberOf(object *hujson.Object, name string, fallback hujson.ValueTrimmed) *hujson.Value {
	for i := range object.Members {
		if key, ok := object.Members[i].Name.Value.(hujson.Literal); ok && strings.EqualFold(key.String(), name) {
			return &object.Members[i].Value
		}
	}
	object.Members = append(object.Members, hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(name)}, Value: hujson.Value{Value: fallback}})
	return &object.Members[len(object.Members)-1].Value
}
