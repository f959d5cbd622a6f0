// Command adze is a coding assistant for the terminal; see README.md.
package main

import (
	"os"

	"adze/internal/app"
)

func main() {
	os.Exit(app.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
