package jsontext

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Problem explains a JSON error in plain words: encoding/json names Go types, which the JSON's
// author does not know.
func Problem(err error) string {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &kind):
		what, _, _ := strings.Cut(kind.Value, " ") // "number 300" repeats the value
		if kind.Field == "" {
			return fmt.Sprintf("it has to be %s, and is %s", kindOf(kind.Type), article(what))
		}
		return fmt.Sprintf("%q has to be %s, and is %s", kind.Field, kindOf(kind.Type), article(what))
	case errors.As(err, &syntax):
		return fmt.Sprintf("it is no JSON: %s (byte %d)", strings.TrimPrefix(syntax.Error(), "json: "), syntax.Offset)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "it is no JSON: it ends too early"
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return kindOf(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return "a string"
		}
		return "a list"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "an object"
}

func article(value string) string {
	switch value {
	case "bool":
		return "true or false"
	case "array":
		return "a list"
	case "object":
		return "an object"
	}
	return "a " + value
}
