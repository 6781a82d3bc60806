package clichain

// The words of the spec language, for the tests of its schema and its errors.
var (
	RuleKinds     = ruleKinds
	LineKinds     = lineKinds
	RequestFields = knownFields
)

// EventFields are the fields that a rule can set.
func EventFields() (names []string) {
	for name := range eventSetters {
		names = append(names, name)
	}
	return names
}
