// Package version reads the build information of the program.
package version

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// Info is the build information of a program.
type Info struct {
	Version  string `json:"version"`            // of the module
	Commit   string `json:"commit,omitempty"`   // of a build in a checkout
	Modified bool   `json:"modified,omitempty"` // the checkout had uncommitted changes
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Read returns the Info of this program.
func Read() Info {
	info, _ := debug.ReadBuildInfo()
	return of(info)
}

// of converts the build information that the go command recorded: the version, and the commit of a checkout. Info is
// nil if there is none.
func of(info *debug.BuildInfo) Info {
	b := Info{Version: "(unknown)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info == nil {
		return b
	}
	b.Version = cmp.Or(info.Main.Version, b.Version)
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// Print writes the Info as text.
func (b Info) Print(w io.Writer) error {
	commit := cmp.Or(b.Commit, "(unknown)")
	if b.Modified {
		commit += ", modified"
	}
	_, err := fmt.Fprintf(w, "clichain %s\ncommit: %s\ngo: %s\nplatform: %s\n", b.Version, commit, b.Go, b.Platform)
	return err
}
