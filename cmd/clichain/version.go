package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// buildInfo is what this program was made of.
type buildInfo struct {
	Version  string `json:"version"`            // of the module
	Commit   string `json:"commit,omitempty"`   // where it was built in a checkout
	Modified bool   `json:"modified,omitempty"` // with changes that are in no commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (a *app) versionCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, and what the program was built from",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return a.version(asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) version(asJSON bool) error {
	info, _ := debug.ReadBuildInfo()
	if asJSON {
		return writeJSON(a.out, buildInfoOf(info), isTerminal(a.out))
	}
	return outputError(buildInfoOf(info).print(a.out))
}

// buildInfoOf reads what the go command has recorded in the program: a version where it was built from a published
// module or in a checkout, a commit in a checkout alone. Without a record info is nil.
func buildInfoOf(info *debug.BuildInfo) buildInfo {
	b := buildInfo{Version: "(unknown)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
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

func (b buildInfo) print(w io.Writer) error {
	commit := cmp.Or(b.Commit, "(unknown)")
	if b.Modified {
		commit += ", modified"
	}
	_, err := fmt.Fprintf(w, "clichain %s\ncommit: %s\ngo: %s\nplatform: %s\n", b.Version, commit, b.Go, b.Platform)
	return err
}
