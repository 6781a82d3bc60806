package clitest

import (
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/session"
)

// start is one combination of modes, and a version of the CLI, "" for an unknown version.
type start struct {
	compose.Choice
	version string
}

// of returns the version for the text of a problem.
func (w start) of() string {
	if w.version == "" {
		return ""
	}
	return " of version " + w.version
}

// starts returns all combinations for the CLI.
func (s *subject) starts() (all []start) {
	for _, version := range s.versions() {
		for _, output := range s.spec.OutputModes() {
			for _, transport := range s.spec.TransportModes() {
				all = append(all, start{compose.Choice{Output: output, Transport: transport}, version})
			}
		}
		if s.spec.Live.Has() {
			all = append(all, start{compose.Choice{Output: clispec.OutputLive}, version})
		}
	}
	return all
}

// versions returns the versions that rows distinguish, the unknown version first.
func (s *subject) versions() []string {
	all := []string{""}
	add := func(w clispec.When) { all = append(all, w.Since, w.Before) }
	for _, row := range s.spec.Args {
		add(row.When)
	}
	for _, row := range s.spec.Env {
		add(row.When)
	}
	for _, row := range s.spec.Files {
		add(row.When)
	}
	if slices.Sort(all); all[len(all)-1] != "" {
		all = append(all, "0.0.1") // precedes all versions
	}
	return slices.Compact(all)
}

// composed returns the invocation for a request on a machine without any state.
func composed(spec clispec.Spec, req call.Request, way start, trust bool) (*compose.Invocation, *call.Error) {
	const dir = "/home/user/project"
	return compose.New(&spec, nil).Compose(req, way.Choice, compose.Host{
		Path: "/opt/bin/cli", Version: way.version, Dir: dir, RealDir: dir, TempDir: "/tmp/clichain-kit",
		TrustDir: trust, Known: &session.Record{Dir: dir}, RequestEnv: []string{"KIT_MARK"},
	})
}

// shown returns the arguments and the environment, which other users can see.
func shown(inv *compose.Invocation) string {
	return strings.Join(slices.Concat(inv.Args, inv.Env), "\n")
}

// given returns all values that an invocation passes to the CLI: arguments, alone and with the flag before them,
// variables of the spec, and files.
func given(spec clispec.Spec, inv *compose.Invocation) map[string]bool {
	words := map[string]bool{}
	for i, arg := range inv.Args {
		words[arg], words[withFlag(inv.Args, i)] = true, true
	}
	for _, word := range besideArgs(spec, inv) {
		words[word] = true
	}
	return words
}

// withFlag returns an argument with the flag before it, if it may be the flag's value.
func withFlag(args []string, i int) string {
	if i > 0 && strings.HasPrefix(args[i-1], "-") && !strings.HasPrefix(args[i], "-") {
		return args[i-1] + " " + args[i]
	}
	return args[i]
}

// besideArgs returns the variables of the spec and the contents of files.
func besideArgs(spec clispec.Spec, inv *compose.Invocation) (words []string) {
	for _, kv := range inv.Env {
		name, _, _ := strings.Cut(kv, "=")
		if slices.ContainsFunc(spec.Env, func(row clispec.EnvRow) bool { return row.Name == name }) {
			words = append(words, kv)
		}
	}
	for _, f := range inv.Files {
		words = append(words, f.Content)
	}
	return words
}

// withAccess returns a request with an access level.
func withAccess(access call.Access) call.Request {
	req := call.Prompt("Hello")
	req.Access = access
	return req
}
