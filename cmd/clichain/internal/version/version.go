// Package version reads what a program was built from.
package version

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// Info is what a program was built from.
type Info struct {
	Version  string `json:"version"`            // of the module
	Commit   string `json:"commit,omitempty"`   // where it was built in a checkout
	Modified bool   `json:"modified,omitempty"` // with changes that are in no commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Read is the Info of this program.
func Read() Info {
	info, _ := debug.ReadBuildInfo()
	return of(info)
}

// of reads what the go command has recorded in a program: the version of a published module or of a checkout, and the
// commit of a checkout. Without a record info is nil.
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

// Print writes the Info for people.
func (b Info) Print(w io.Writer) error {
	commit := cmp.Or(b.Commit, "(unknown)")
	if b.Modified {
		commit += ", modified"
	}
	_, err := fmt.Fprintf(w, "clichain %s\ncommit: %s\ngo: %s\nplatform: %s\n", b.Version, commit, b.Go, b.Platform)
	return err
}
