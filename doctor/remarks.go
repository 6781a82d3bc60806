package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/localfile"
	"github.com/clichain/clichain/internal/login"
	"github.com/clichain/clichain/internal/machine"
	"github.com/clichain/clichain/internal/semver"
)

// remarks adds conditions that change the behavior of a backend but do not prevent an answer.
func (d *examination) remarks(p *clichain.Provider, found *Diagnosis) {
	spec, cfg := p.Spec(), p.Config()
	at := login.PlaceOf(p.Environ(), d.cfg.Dir)
	remarkSession(&spec, &cfg, at, found)
	if folder, ok := login.Untrusted(spec.Trust, at); ok {
		message := spec.Name + " does not trust " + folder + ": it ignores the settings of the project"
		found.remark("untrusted_folder", message, spec.Hints[call.ReasonUntrustedDir])
	}
	if costs := spec.Models.ChoiceCosts; costs != "" {
		found.remark("model_choice", "a call without a model costs "+costs, "")
		found.Problems[len(found.Problems)-1].Advice = []call.Advice{{Action: call.ActionSet, Field: "model"}}
	}
	if cfg.Container != nil {
		return // the following remarks are about this machine
	}
	path := os.Getenv("PATH")
	found.Problems = slices.Concat(found.Problems, homeRemarks(at), pathRemarks(path), argumentRemarks(&spec, &cfg))
	if cfg.Confine != call.ConfineOff {
		remarkConfinement(found)
	}
	for _, s := range d.surroundings {
		found.remark(s.Code, "this is "+s.Name+" ("+s.Sign+")", s.Hint)
	}
}

// age compares the version with the version that the spec was tested with.
func (d *Diagnosis) age(spec clispec.Spec) {
	if semver.Less(d.Version, spec.CheckedWith) {
		message := fmt.Sprintf("%s is older than %s, the version that the spec was tested with", d.Version, spec.CheckedWith)
		d.remark("old_version", message, spec.Hints[call.ReasonNotInstalled])
	}
	if d.Drift = machine.Drift(d.Version, spec.CheckedWith); d.Drift != "" {
		d.remark("drift", d.Drift, "update clichain if a call fails with unsupported, exit or bad_output")
	}
}

// remarkSession warns of an outer agent and of root.
func remarkSession(spec *clispec.Spec, cfg *clichain.Config, at grammar.Place, found *Diagnosis) {
	if name := compose.OuterSession(spec, os.Environ()); name != "" && !cfg.RefuseNested {
		message := name + " is set: this process runs inside a session of the same agent"
		found.remark("nested", message, "no action needed: the CLI does not see the outer session")
	}
	if os.Geteuid() != 0 {
		return
	}
	sees := func(name string) bool { return grammar.IsSet(at.Vars, name) }
	for _, rule := range spec.Preflight {
		if rule.Root && !slices.ContainsFunc(rule.UnlessEnv, sees) {
			found.remark("root_bypass", "this user is root: with access full, "+rule.Message, rule.Hint)
		}
	}
}

// remarkConfinement adds a remark for each reason for which nothing confines calls, with the access of these calls.
func remarkConfinement(found *Diagnosis) {
	var reasons []string
	levels := map[string][]string{}
	for access := call.AccessNone; access < call.AccessFull; access++ {
		if why, unconfined := strings.CutPrefix(found.Confined[access.String()], "no: "); unconfined {
			levels[why] = append(levels[why], access.String())
			if !slices.Contains(reasons, why) {
				reasons = append(reasons, why)
			}
		}
	}
	for _, why := range reasons {
		found.Problems = append(found.Problems, Problem{
			Code: "not_confined", Message: "nothing confines calls with access " + strings.Join(levels[why], ", ") + ": " + why,
			Advice: []call.Advice{{Action: call.ActionSet, Field: "config.confine", Value: string(call.ConfineRequired)}},
		})
	}
}

// homeRemarks checks the directories that a CLI or a call writes to.
func homeRemarks(at grammar.Place) (remarks []Problem) {
	add := func(code, message, hint string) {
		remarks = append(remarks, Problem{Code: code, Message: message, Hint: hint})
	}
	if code, message, hint := machine.HomeProblem(at.Home); code != "" {
		add(code, message, hint)
	}
	if temp := os.TempDir(); !localfile.Writable(temp) {
		add("no_temp", temp+" is not writable, and calls may need files there",
			"set TMPDIR to a writable directory")
	}
	return remarks
}

// pathRemarks finds directories on the PATH of this process in which another user could install a program.
func pathRemarks(path string) (remarks []Problem) {
	for _, dir := range filepath.SplitList(path) {
		why := ""
		if !filepath.IsAbs(dir) {
			why = "is relative to the working directory and is not searched"
		} else if info, err := os.Stat(dir); err == nil && runtime.GOOS != "windows" &&
			info.Mode().Perm()&0o002 != 0 && info.Mode()&os.ModeSticky == 0 {
			why = "is writable by every user of this machine"
		}
		if why != "" {
			message := fmt.Sprintf("%q in PATH %s", dir, why)
			remarks = append(remarks, Problem{Code: "unsafe_path", Message: message, Hint: "remove it from PATH"})
		}
	}
	return remarks
}

// argumentRemarks warns of a CLI that takes the prompt as an argument.
func argumentRemarks(spec *clispec.Spec, cfg *clichain.Config) []Problem {
	if way := spec.TransportModes()[0]; way != clispec.TransportArgv || cfg.Transport == clispec.TransportStdin {
		return nil
	}
	const text = "it takes the prompt as an argument of at most %d bytes, which other users of the machine can see"
	message := fmt.Sprintf(text, compose.MaxArg)
	return []Problem{{
		Code: "argument_limit", Message: message, Hint: "use another backend for long or private prompts",
	}}
}
