package drift

import (
	"regexp"
	"slices"
	"strings"

	"github.com/clichain/clichain/clispec"
)

// NeedsOf lists the names that a spec uses with a version of its CLI. The version "" is the newest one. For versions
// older than CheckedWith, it lists only the environment variables that the spec sets. Newer versions may have added the
// others.
func NeedsOf(spec clispec.Spec, version string) Needs {
	n := Needs{Flags: map[string][]string{}}
	n.flags(spec, version)
	n.events(spec.Events)
	n.events(spec.Live.Events)
	n.messages(&spec.Live)
	n.variables(spec, version)
	n.Events, n.Variables = sorted(n.Events), sorted(n.Variables)
	return n
}

// word matches an argument that names a command at the beginning of a row.
var word = regexp.MustCompile(`^[a-z][a-z-]*$`)

// flags sorts the flags of the rows by their commands, for one run and for the live mode.
func (n *Needs) flags(spec clispec.Spec, version string) {
	for _, live := range []bool{false, true} {
		if live && !spec.Live.Has() {
			continue
		}
		command := ""
		for _, row := range spec.ArgTable() {
			if !row.When.AppliesTo(version) || !inMode(row.When.Output, live) {
				continue
			}
			own := command
			if word.MatchString(row.Args[0]) {
				own = strings.TrimSpace(command + " " + row.Args[0])
				if always(row.When) {
					command = own
				}
			}
			n.Flags[own] = sorted(n.Flags[own], flagsIn(row.Args))
		}
	}
}

func inMode(outputs []clispec.OutputMode, live bool) bool {
	return len(outputs) == 0 || slices.ContainsFunc(outputs, func(o clispec.OutputMode) bool {
		return (o == clispec.OutputLive) == live
	})
}

// always reports whether a row is part of every call of its mode.
func always(w clispec.When) bool {
	return len(w.Set)+len(w.Unset)+len(w.Access)+len(w.Transport)+len(w.Env) == 0
}

func flagsIn(args []string) (flags []string) {
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			return flags
		case strings.HasPrefix(name, "-") && name != "-":
			flags = append(flags, name)
		}
	}
	return flags
}

var (
	// naming matches the ends of paths whose values distinguish events.
	naming = regexp.MustCompile(`(^|\.)(type|subtype|method|event|sessionUpdate)$`)
	// maybe matches an optional part of a pattern.
	maybe = regexp.MustCompile(`\([^()]*\)\?`)
	// literal matches a pattern without operators.
	literal = regexp.MustCompile(`^[\w./-]*[A-Za-z][\w./-]*$`)
)

// events adds the names that the patterns of rules contain literally.
func (n *Needs) events(rules []clispec.EventRule) {
	for _, rule := range rules {
		for path, pattern := range rule.Match {
			if !naming.MatchString(path) {
				continue
			}
			for name := range strings.SplitSeq(maybe.ReplaceAllString(pattern, ""), "|") {
				if literal.MatchString(name) {
					n.Events = append(n.Events, name)
				}
			}
		}
	}
}

// messages adds the names of the messages that are sent in the live mode, and of the questions that the CLI asks.
func (n *Needs) messages(r *clispec.LiveRules) {
	for _, m := range slices.Concat(r.Ready, r.Open, r.Opened, r.Turn, r.Interrupt, r.Clear, r.Close) {
		n.Events = append(n.Events, m.Method)
	}
	for _, ask := range r.Asks {
		n.Events = append(n.Events, ask.Method)
	}
}

// foreign matches environment variables of other programs: of git, of the interpreter and of cloud services.
var foreign = regexp.MustCompile(`^(GIT_|TMPDIR$|AWS_|AZURE_|GOOGLE_|VERTEX_|CLOUD_|RUST_LOG$)`)

func (n *Needs) variables(spec clispec.Spec, version string) {
	var names []string
	for _, row := range spec.Env {
		if row.When.AppliesTo(version) {
			names = append(names, row.Name)
		}
	}
	if current := (clispec.When{Since: spec.CheckedWith}); current.AppliesTo(version) {
		names = slices.Concat(names, spec.PassEnv, spec.NestedEnv)
		for _, way := range spec.Login.Ways {
			names = append(names, way.Env...)
		}
	}
	for _, name := range names {
		if name = strings.TrimSuffix(name, "*"); !foreign.MatchString(name) {
			n.Variables = append(n.Variables, name)
		}
	}
}
