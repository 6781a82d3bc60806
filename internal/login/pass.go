package login

import (
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/grammar"
)

// PassRules reports which rules of a spec's PassEnvIf have a matching file. It is safe for concurrent use.
type PassRules struct {
	rules [][]compiledFact // the facts of each rule
	files factReader
}

// NewPassRules compiles the rules of a spec that passed Validate.
func NewPassRules(rules []clispec.PassRule) *PassRules {
	p := &PassRules{rules: make([][]compiledFact, len(rules))}
	for i, rule := range rules {
		for _, f := range rule.Files {
			p.rules[i] = append(p.rules[i], compileFact(f))
		}
	}
	return p
}

// Shown reports, for each rule, whether one of its files matches. A file that cannot be read does not match.
func (p *PassRules) Shown(at grammar.Place) []bool {
	shown := make([]bool, len(p.rules))
	for i, facts := range p.rules {
		for k := range facts {
			shown[i] = shown[i] || p.files.look(&facts[k], at, nil).known == present
		}
	}
	return shown
}
