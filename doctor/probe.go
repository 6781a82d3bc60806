package doctor

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/login"
	"github.com/clichain/clichain/internal/machine"
	"github.com/clichain/clichain/internal/plaintext"
)

// probeTime bounds all probes together. Some CLIs take seconds to start.
const probeTime = 4 * time.Second

// probeAll asks every CLI that can be started for its version and its login.
func (d *examination) probeAll(ctx context.Context, backends []subject, found []Diagnosis) {
	limit := cmp.Or(d.cfg.ProbeTimeout, probeTime)
	ctx, cancel := judge.Within(ctx, limit)
	defer cancel()
	versions := machine.OpenVersions(d.cfg.CacheDir)
	var running sync.WaitGroup
	for i, b := range backends {
		p, ok := b.Backend.(*clichain.Provider)
		if !ok || !found[i].Ready() || p.Config().Container != nil {
			continue
		}
		one := probe{p, &found[i], versions, limit}
		running.Go(func() {
			if one.version(ctx) {
				one.login(ctx)
			}
		})
	}
	running.Wait()
	versions.Save(context.WithoutCancel(ctx))
}

// probe runs the commands of one CLI.
type probe struct {
	*clichain.Provider
	found    *Diagnosis
	versions *machine.Versions
	limit    time.Duration
}

// version reports whether the program works at all.
func (p probe) version(ctx context.Context) bool {
	found := p.found
	found.Version = p.versions.Get(found.Path)
	if found.Version == "" {
		out, err := p.Probe(ctx, []string{"--version"}, p.limit)
		text := plaintext.Escapes.ReplaceAllString(out.Stdout, "")
		version, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
		be := call.AsError(found.Name, err)
		switch {
		case err != nil && be.Reason == call.ReasonTimeout:
			found.fail(call.ReasonTimeout, fmt.Sprintf("--version gave no answer in %v", p.limit))
			return false
		case err != nil:
			found.fail(be.Reason, "--version: "+be.Detail())
			return false
		case out.ExitCode != 0 || version == "":
			said := fmt.Sprintf("--version: exit status %d: %s", out.ExitCode, plaintext.LastLine(out.Stderr))
			found.fail(call.ReasonExit, strings.TrimSuffix(said, ": "))
			return false
		}
		found.Version = firstRunes(plaintext.OneLine(version), 60)
		p.versions.Put(found.Path, found.Version)
	}
	if spec := p.Spec(); machine.Older(found.Version, spec.CheckedWith) {
		message := fmt.Sprintf("%s is older than %s, with which this was checked", found.Version, spec.CheckedWith)
		found.remark("old_version", message, spec.Hints[call.ReasonNotInstalled])
	}
	return true
}

func (d *Diagnosis) fail(code call.Reason, message string) {
	hint := "run `" + d.Path + " --version` to see what is wrong"
	d.block(&call.Error{Backend: d.Name, Reason: code, Message: message, ExitCode: -1, Hint: hint})
}

func firstRunes(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}

// login runs the CLI's status command. Its "yes" counts always, its "no" only if
// the command knows all the ways to log in.
func (p probe) login(ctx context.Context) {
	found, spec := p.found, p.Spec()
	rule := spec.Login.Status
	if len(rule.Args) == 0 {
		return
	}
	command := fmt.Sprintf("`%s %s`", spec.Name, strings.Join(rule.Args, " "))
	out, err := p.Probe(ctx, rule.Args, p.limit)
	if err != nil {
		found.remark("no_status", command+": "+call.AsError(found.Name, err).Detail(), "")
		return
	}
	sign := login.Sign(rule, out.Stdout, out.Stderr, out.ExitCode)
	switch {
	case out.Signal != "" || sign.Login == "":
	case sign.Login == clispec.LoginAuthenticated:
		found.Login, found.Billing = clispec.LoginAuthenticated, cmp.Or(sign.Billing, found.Billing)
		found.Evidence = strings.TrimPrefix(found.Evidence+"; "+command, "; ")
	case rule.Whole && found.Login != clispec.LoginInstalled:
		found.Login, found.Evidence = clispec.LoginInstalled, command
		loggedOut := call.Errorf(call.ReasonUnauthenticated, "", "%s says that it is not logged in", command)
		loggedOut.Hint = spec.Hints[call.ReasonUnauthenticated]
		found.block(loggedOut)
	}
}
