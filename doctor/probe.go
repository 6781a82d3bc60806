package doctor

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/jsontext"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/machine"
	"github.com/clichain/clichain/internal/plaintext"
)

// probeTime bounds the probes together. Some CLIs need seconds to start.
const probeTime = 4 * time.Second

// probeAll asks every CLI that could be started for its version and its login.
func (d *examination) probeAll(ctx context.Context, backends []subject, found []Diagnosis) {
	limit := cmp.Or(d.cfg.ProbeTimeout, probeTime)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, &judge.Stop{Reason: call.ReasonTimeout, After: limit})
	defer cancel()
	versions := machine.OpenVersions(d.cfg.CacheDir)
	var running sync.WaitGroup
	for i, b := range backends {
		if p, ok := b.Backend.(*clichain.Provider); ok && found[i].Ready() && p.Config().Container == nil {
			running.Go(func() {
				if probeVersion(ctx, p, &found[i], versions, limit) {
					probeLogin(ctx, p, &found[i], limit)
				}
			})
		}
	}
	running.Wait()
	versions.Save(context.WithoutCancel(ctx))
}

// probeVersion reports whether the program works at all.
func probeVersion(ctx context.Context, p *clichain.Provider, found *Diagnosis, versions *machine.Versions, limit time.Duration) bool {
	found.Version = versions.Get(found.Path)
	if found.Version == "" {
		out, err := p.Probe(ctx, []string{"--version"}, limit)
		version, _, _ := strings.Cut(strings.TrimSpace(plaintext.Escapes.ReplaceAllString(out.Stdout, "")), "\n")
		be := call.AsError(found.Name, err)
		switch {
		case err != nil && be.Reason == call.ReasonTimeout:
			found.fail(call.ReasonTimeout, fmt.Sprintf("--version gave no answer in %v", limit))
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
		versions.Put(found.Path, found.Version)
	}
	if spec := p.Spec(); machine.Older(found.Version, spec.CheckedWith) {
		message := fmt.Sprintf("%s is older than %s, with which this was checked", found.Version, spec.CheckedWith)
		found.remark("old_version", message, spec.Hints[call.ReasonNotInstalled])
	}
	return true
}

func (d *Diagnosis) fail(code call.Reason, message string) {
	d.block(&call.Error{Backend: d.Name, Reason: code, Message: message, ExitCode: -1, Hint: "run `" + d.Path + " --version` to see what is wrong"})
}

func firstRunes(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}

// probeLogin asks the CLI itself. Its "yes" counts, its "no" only where it
// knows all the ways in.
func probeLogin(ctx context.Context, p *clichain.Provider, found *Diagnosis, limit time.Duration) {
	spec := p.Spec()
	rule := spec.Login.Status
	if len(rule.Args) == 0 {
		return
	}
	command := fmt.Sprintf("`%s %s`", spec.Name, strings.Join(rule.Args, " "))
	out, err := p.Probe(ctx, rule.Args, limit)
	if err != nil {
		found.remark("no_status", command+": "+call.AsError(found.Name, err).Detail(), "")
		return
	}
	sign, ok := signIn(rule, out)
	switch {
	case !ok:
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

// signIn is the first sign of the rule that holds.
func signIn(r clispec.StatusRule, out clichain.Output) (clispec.StatusSign, bool) {
	text := plaintext.Escapes.ReplaceAllString(out.Stdout+"\n"+out.Stderr, "")
	docs := jsontext.Objects([]byte(out.Stdout))
	for _, sign := range r.Signs {
		if out.Signal != "" || out.ExitCode != sign.Exit || !regexp.MustCompile(`(?m)`+sign.Pattern).MatchString(text) {
			continue
		}
		holds := true
		for path, pattern := range sign.JSON {
			re := plaintext.Whole(pattern)
			holds = holds && slices.ContainsFunc(docs, func(doc gjson.Result) bool { return re.MatchString(doc.Get(path).String()) })
		}
		if holds {
			return sign, true
		}
	}
	return clispec.StatusSign{}, false
}
