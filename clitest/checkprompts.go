package clitest

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/pattern"
)

// promptOnStdin finds prompts that are visible to other users or limited in length although stdin could carry them.
func (s *subject) promptOnStdin(TB) (found []problem) {
	transports := s.spec.TransportModes()
	if !slices.Contains(transports, clispec.TransportStdin) {
		return nil
	}
	if transports[0] != clispec.TransportStdin {
		found = append(found, problemf("transports", "has stdin after %s, so each prompt is an argument, "+
			"which is limited in length and visible to other users: put stdin first", transports[0]))
	}
	for _, way := range s.starts() {
		if way.Transport != clispec.TransportStdin {
			continue
		}
		for _, access := range levels {
			found = append(found, s.shownPrompt(way, access)...)
		}
	}
	return first(found)
}

// shownPrompt reports a prompt that is in an argument or a variable although stdin carries it.
func (s *subject) shownPrompt(way start, access call.Access) []problem {
	shows := func(spec clispec.Spec, refused bool) bool {
		req := call.Prompt(plainPrompt)
		req.Access = access
		if inv, err := composed(spec, req, way, false); err == nil {
			return strings.Contains(shown(inv), plainPrompt)
		}
		return refused
	}
	if !shows(s.spec, false) {
		return nil
	}
	field := blame(s.spec, "args", func(other clispec.Spec) bool { return shows(other, true) })
	return []problem{problemf(field, "shows the prompt to other users although stdin carries it: "+
		"add when: {transport: [argv]} to the row")}
}

// oddTexts returns prompts that a CLI, a shell or this library might misinterpret. It is a function because a fake is
// the test binary, and a variable would cost the long prompt at each start of a fake.
func oddTexts() []string {
	return []string{
		"-n", "--help me, please", "/clear all of it", "@/etc/hostname and so on", "a NUL \x00 in it", "no UTF-8: \xff\xfe",
		strings.Repeat("long ", 1<<20/5), "  blanks\tand line ends \r\n\n", `"it's" $(exit 3) ` + "`x` %PATH% {prompt} \\n",
	}
}

// oddPrompts finds prompts that arrive changed. It accepts a refusal before the start.
func (s *subject) oddPrompts(t TB) (found []problem) {
	for _, transport := range s.spec.TransportModes() {
		for _, prompt := range oddTexts() {
			cli := s.recorder(t, Answer(s.spec, "yes"))
			cfg := config(cli.Path)
			cfg.Transport = transport
			p := clichain.NewProvider(s.spec, &cfg)
			if _, err := s.complete(p, context.Background(), clichain.Prompt(prompt)); err == nil || len(cli.Received()) > 0 {
				found = append(found, s.changed(cli.Received()[0], prompt, transport)...)
			}
		}
	}
	return first(found)
}

// changed reports a prompt that does not arrive, or that has a visible prefix.
func (s *subject) changed(got Received, prompt string, transport clispec.Transport) []problem {
	texts, field := []string{got.Stdin}, "transports"
	if transport == clispec.TransportArgv {
		texts, field = got.Args, s.rowOf("prompt")
	}
	for i, text := range texts {
		before, ends := strings.CutSuffix(text, prompt)
		if !ends || transport == clispec.TransportArgv && isFlag(texts, i) && before == "" {
			continue
		}
		if transport == clispec.TransportArgv {
			before = flagOf().ReplaceAllString(before, "")
		}
		if strings.TrimFunc(before, invisible) != "" {
			return []problem{problemf(s.guardOf(prompt), "puts %.60q before the prompt %.20q, which changes the "+
				"question: use an invisible prefix, such as a line break", before, prompt)}
		}
		return nil
	}
	return []problem{problemf(field, "the prompt %.20q is changed by %s: the CLI received %.200q. Pass it as "+
		"{prompt} alone, after a \"--\" or as --flag={prompt}", prompt, transport, texts)}
}

// flagOf matches the flag before its value.
var flagOf = pattern.Of(`^--?[A-Za-z][A-Za-z0-9_-]*=`)

// isFlag reports whether a CLI would read an argument as a flag.
func isFlag(args []string, i int) bool {
	return strings.HasPrefix(args[i], "-") && !slices.Contains(args[:i], "--")
}

// invisible reports whether a character is invisible, so that it does not change the prompt after it.
func invisible(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) }

// guardOf returns the field of the spec that adds a prefix to a prompt.
func (s *subject) guardOf(prompt string) string {
	for i, guard := range s.spec.Guards {
		if regexp.MustCompile(guard.Pattern).MatchString(prompt) {
			return fmt.Sprintf("guards[%d].prefix", i)
		}
	}
	return s.rowOf("prompt")
}
