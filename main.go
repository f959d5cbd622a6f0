// Command adze is a coding assistant for the terminal; see README.md.
package main

import (
	"os"

	"adze/internal/run"
)

func main() {
	os.Exit(run.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
