package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestAskingFindsWhatAsks has a package in which tests ask in each way, and some that ask in none.
func TestAskingFindsWhatAsks(t *testing.T) {
	root := t.TempDir()
	for _, f := range txtar.Parse([]byte(tree)).Files {
		at := filepath.Join(root, f.Name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Asking(root, "a")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"FuzzItself", "TestByAFunction", "TestByAMethod", "TestByASuite", "TestByAVariable", "TestItself", "TestUnderAnotherName"}
	if !slices.Equal(got, want) {
		t.Errorf("%q ask, want %q", got, want)
	}
}

const tree = `
-- internal/testkit/effort/effort.go --
package effort
-- internal/testkit/suite/suite.go --
package suite

import "adze/internal/testkit/effort"

func Run() { effort.Rounds(1, 2, 3) }
-- internal/testkit/fakes/fakes.go --
package fakes

func New() {}
-- a/a_test.go --
package a

import (
	"testing"

	"adze/internal/testkit/effort"
	"adze/internal/testkit/fakes"
	"adze/internal/testkit/suite"
)

type bench struct{ count int }

func (b *bench) many() { rounds() }
func (b *bench) other() {}

var most = rounds()

func TestItself(t *testing.T)      { effort.Needs(t, effort.Short, "") }
func TestByASuite(t *testing.T)    { t.Run("x", func(t *testing.T) { suite.Run() }) }
func TestByAFunction(t *testing.T) { rounds() }
func TestByAMethod(t *testing.T)   { (&bench{}).many() }
func TestByAVariable(t *testing.T) { _ = most }
func FuzzItself(f *testing.F)      { effort.Rounds(1, 2, 3) }
func TestByAFake(t *testing.T)     { fakes.New() }
func TestByAField(t *testing.T)    { b := bench{}; _ = b.count; b.other() }
-- a/helper_test.go --
package a

import level "adze/internal/testkit/effort"

func rounds() int { return level.Rounds(1, 2, 3) }
-- a/named_test.go --
package a_test

import (
	"testing"

	level "adze/internal/testkit/effort"
)

func TestUnderAnotherName(t *testing.T) { level.Seed(t, 1) }
-- a/a.go --
package a
`
