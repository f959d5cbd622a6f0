package live

import (
	"reflect"
	"testing"
)

// TestAStateIsNewsByEachOfItsFields: a field that is not compared would not be told to clients.
func TestAStateIsNewsByEachOfItsFields(t *testing.T) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Status]()) {
		if field.Anonymous {
			continue
		}
		var was, now Status
		switch f := reflect.ValueOf(&now).Elem().FieldByIndex(field.Index); f.Kind() {
		case reflect.String:
			f.SetString("other")
		case reflect.Int:
			f.SetInt(1)
		case reflect.Float64:
			f.SetFloat(1)
		case reflect.Slice:
			f.Set(reflect.ValueOf([]string{"other"}))
		default:
			t.Fatalf("%s is a %s, which this test cannot change", field.Name, f.Kind())
		}
		if was.same(now) || !now.same(now) {
			t.Errorf("%s does not count", field.Name)
		}
	}
	full := Status{State: Working, Activity: "go test", Works: Works{Queued: []string{"a"}}}
	if n := testing.AllocsPerRun(10, func() { full.same(full) }); n > 0 {
		t.Errorf("a comparison allocates %v times", n)
	}
}
