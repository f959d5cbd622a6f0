// Command release makes everything that users install: archives for each system, packages, a
// formula, a manifest, install scripts, checksums and bills of materials.
//
//	go run ./internal/tools/release -version 0.2.0 -url https://example.org/adze/0.2.0 -out dist
//
// The same source gives the same bytes: times come from the commit, names are sorted, and builds
// contain no local path. It publishes nothing.
//
// Start reading at Release.Make.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := start(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func start(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	version := flags.String("version", "", "the `VERSION`, such as 0.2.0")
	url := flags.String("url", "", "the `ADDRESS` of the folder that the files will be fetched from")
	out := flags.String("out", "dist", "the `FOLDER` to write; it must not exist")
	only := flags.String("only", "", "make only these `TARGETS`, such as linux/amd64,windows/arm64")
	packages := flags.Bool("packages", true, "make deb, rpm and apk packages, too")
	maintainer := flags.String("maintainer", "the adze authors", "the `NAME <ADDRESS>` that packages tell; without an address, problems go to where SECURITY.md says")
	reference := flags.String("reference", "", "write the reference of commands and settings to this `FOLDER`, and end")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *reference != "" {
		return writeReference(*reference)
	}
	targets, err := chosen(*only)
	if err != nil {
		return err
	}
	made, err := sourceTime(ctx)
	if err != nil {
		return err
	}
	r := Release{Version: strings.TrimPrefix(*version, "v"), URL: strings.TrimSuffix(*url, "/"), Time: made, Out: *out, Targets: targets, Packages: *packages, Maintainer: *maintainer}
	if err := r.check(); err != nil {
		return err
	}
	return r.Make(ctx)
}

func (r Release) check() error {
	switch {
	case r.Version == "":
		return errors.New("say which version: -version 0.2.0")
	case strings.ContainsAny(r.Version, " /\"'$`\\\n"):
		return fmt.Errorf("version %q holds a character that file names and scripts cannot", r.Version)
	case !strings.HasPrefix(r.URL, "https://") && !strings.HasPrefix(r.URL, "file://"):
		return errors.New("say where the files will be fetched from: -url https://…")
	case strings.ContainsAny(r.URL, " \"'$`\\\n"):
		return fmt.Errorf("the address %q holds a character that scripts cannot", r.URL)
	}
	return nil
}

// chosen parses a list of targets; "" means all.
func chosen(list string) ([]Target, error) {
	if list == "" {
		return Targets(), nil
	}
	var out []Target
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(Targets(), func(t Target) bool { return t.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("no target %q; there are %v", name, Targets())
		}
		out = append(out, Targets()[i])
	}
	return out, nil
}

// sourceTime returns SOURCE_DATE_EPOCH, or the commit's time.
func sourceTime(ctx context.Context) (time.Time, error) {
	said := os.Getenv("SOURCE_DATE_EPOCH")
	if said == "" {
		raw, err := output(ctx, nil, "git", "log", "-1", "--format=%ct")
		if err != nil {
			return time.Time{}, fmt.Errorf("no commit to take the time from (set SOURCE_DATE_EPOCH): %w", err)
		}
		said = strings.TrimSpace(string(raw))
	}
	seconds, err := strconv.ParseInt(said, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}
