package undo

import (
	"strings"

	"adze/internal/files/search/ignore"
)

// rules returns the ignore level of a folder, including its own ignore files.
func (k *walker) rules(at folder, s scope, has func(name string) bool) *ignore.Level {
	var f ignore.Files
	if has(ignore.GitDir) || has(ignore.JJDir) {
		f.Repo, f.Excludes = true, k.opts.Ignore.Excludes(k.opts.Root+"/"+s.path)
	}
	if has(ignore.GitFile) {
		f.Git = readRules(at, ignore.GitFile)
	}
	if has(ignore.OwnFile) {
		f.DotIgnore = readRules(at, ignore.OwnFile)
	}
	name := strings.TrimSuffix(s.path, "/")
	return s.level.Enter(name[strings.LastIndexByte(name, '/')+1:], f)
}

// readRules parses an ignore file. An unreadable one has no rules.
func readRules(at folder, name string) *ignore.Rules {
	c, err := at.readFile(name, ignore.MaxFile, nil)
	if err != nil {
		return nil
	}
	return ignore.Parse(c.bytes)
}
