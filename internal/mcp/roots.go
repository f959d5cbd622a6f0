package mcp

//lint:file-ignore SA1019 the newest protocol advises new servers against roots; those that exist use them

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// announceRoots sends a program the workspace as its only root. A program with folders among its
// arguments gets none, because the filesystem server would use the roots instead of them. A remote
// service cannot use local paths.
func (c *connection) announceRoots(o *sdk.ClientOptions) (add func(*sdk.Client)) {
	dir := c.pool.opts.Dir
	if len(c.conf.Command) == 0 || dir == "" || c.conf.namesFolder() {
		return func(*sdk.Client) {}
	}
	o.Capabilities.RootsV2 = &sdk.RootCapabilities{}
	root := &sdk.Root{URI: (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(dir), "/")}).String(), Name: filepath.Base(dir)}
	return func(client *sdk.Client) { client.AddRoots(root) }
}

// namesFolder reports whether the command has a folder among its arguments.
func (s Server) namesFolder() bool {
	return slices.ContainsFunc(s.Command[1:], func(word string) bool {
		info, err := os.Stat(word)
		return filepath.IsAbs(word) && err == nil && info.IsDir()
	})
}
