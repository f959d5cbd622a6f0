package run

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/run/process"
)

// TestCommandsOfTheUserAlone lists the commands that no call of adze may start. A command is one of
// them unless it says otherwise with cmd.CallableByTools.
func TestCommandsOfTheUserAlone(t *testing.T) {
	want := strings.Split("attach,batch delete,login,logout,mcp accept,mcp add,mcp disable,mcp enable,mcp import,mcp login,mcp logout,mcp remove,permission add,permission remove,"+
		"models login,models logout,permission trust allow,permission trust revoke,redo,runs delete,sessions attach,sessions delete,"+
		"sessions import,sessions merge,sessions rename,sessions stop,sessions tag,stop,trust allow,trust revoke,undo,undo redo", ",")
	a := &app{&process.Process{}}
	a.Getenv = func(string) string { return "" }
	var got []string
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if !cmd.Free(c) {
			got = append(got, pathOf(c))
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(commandLine(a))
	slices.Sort(want)
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("the user alone may run %q, want %q", got, want)
	}
	root := &cobra.Command{Use: "adze"}
	unmarked := &cobra.Command{Use: "thing"}
	root.AddCommand(unmarked)
	if cmd.Free(unmarked) {
		t.Error("a command that says nothing is free")
	}
}

// pathOf is a command without the program's name; that of a run is empty.
func pathOf(c *cobra.Command) string {
	_, path, _ := strings.Cut(c.CommandPath(), " ")
	return path
}
