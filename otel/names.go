package otel

import "go.opentelemetry.io/otel/attribute"

// scope is the instrumentation scope of this package.
const scope = "github.com/clichain/clichain/otel"

// The names below, up to those of clichain itself, are those of version 1.41 of OpenTelemetry's semantic conventions.
// In that version, all generative AI names are in development. Later versions have removed them, so this package
// defines them; names_test.go compares them with version 1.41.
const schemaURL = "https://opentelemetry.io/schemas/1.41.0"

// The operations, which are the first part of span names.
const (
	operationCall    = "invoke_workflow"
	operationAttempt = "invoke_agent"
	operationJob     = "job"   // defined by clichain
	operationBatch   = "batch" // defined by clichain
)

// The attributes of the conventions.
const (
	keyOperation       = attribute.Key("gen_ai.operation.name")
	keyWorkflow        = attribute.Key("gen_ai.workflow.name")
	keyAgent           = attribute.Key("gen_ai.agent.name")
	keyProvider        = attribute.Key("gen_ai.provider.name")
	keyRequestModel    = attribute.Key("gen_ai.request.model")
	keyResponseModel   = attribute.Key("gen_ai.response.model")
	keyConversation    = attribute.Key("gen_ai.conversation.id")
	keyInputTokens     = attribute.Key("gen_ai.usage.input_tokens")
	keyOutputTokens    = attribute.Key("gen_ai.usage.output_tokens")
	keyCacheRead       = attribute.Key("gen_ai.usage.cache_read.input_tokens")
	keyCacheCreation   = attribute.Key("gen_ai.usage.cache_creation.input_tokens")
	keyReasoningTokens = attribute.Key("gen_ai.usage.reasoning.output_tokens")
	keyTokenType       = attribute.Key("gen_ai.token.type")
	keyInputMessages   = attribute.Key("gen_ai.input.messages")
	keyOutputMessages  = attribute.Key("gen_ai.output.messages")
	keyError           = attribute.Key("error.type")
)

// Attribute values of the conventions.
const (
	tokensIn   = "input"
	tokensOut  = "output"
	errorOther = "_OTHER" // an unknown reason, or a panic
)

// The metrics of the conventions.
const (
	metricDuration  = "gen_ai.client.operation.duration"
	metricFirstText = "gen_ai.client.operation.time_to_first_chunk"
	metricTokens    = "gen_ai.client.token.usage"
)

// The attributes that clichain adds.
const (
	keyAccess     = attribute.Key("clichain.access")
	keyAnsweredBy = attribute.Key("clichain.answered_by")
	keyAttempts   = attribute.Key("clichain.attempts")
	keyFallbacks  = attribute.Key("clichain.fallbacks")
	keyCost       = attribute.Key("clichain.cost_usd")
	keyFlags      = attribute.Key("clichain.flags")
	keyUntil      = attribute.Key("clichain.cooldown.until")
	keyQueue      = attribute.Key("clichain.queue.name")
	keyJob        = attribute.Key("clichain.job.id")
	keyOutcome    = attribute.Key("clichain.job.outcome")
	keyOwner      = attribute.Key("clichain.job.owner")
	keyBatch      = attribute.Key("clichain.batch.id")
	keyJobState   = attribute.Key("clichain.queue.job_state")
	keyAccount    = attribute.Key("clichain.account")
	keyWindow     = attribute.Key("clichain.quota.window")
)

// Events of the span of a call.
const (
	eventSkip     = "clichain.skip"
	eventCooldown = "clichain.cooldown"
)

// The metrics that clichain adds.
const (
	metricFailures   = "clichain.failures"
	metricSkips      = "clichain.skips"
	metricFallbacks  = "clichain.fallbacks"
	metricCooldowns  = "clichain.cooldowns"
	metricCost       = "clichain.cost_usd"
	metricQuotaUsed  = "clichain.quota.used"
	metricQuotaReset = "clichain.quota.reset"

	metricJobWait      = "clichain.job.wait"
	metricJobOutcomes  = "clichain.job.outcomes"
	metricJobCost      = "clichain.job.cost_usd"
	metricQueueJobs    = "clichain.queue.jobs"
	metricQueueUp      = "clichain.queue.up"
	metricQueueOldest  = "clichain.queue.oldest_job.age"
	metricCooldownLeft = "clichain.cooldown.remaining"
	metricChainReady   = "clichain.chain.ready"
)
