package clichain

// The words of the spec language, for the tests of its schema and its errors.
var (
	RuleKinds     = ruleKinds
	LineKinds     = lineKinds
	RequestFields = knownFields
)
