package parse

// Bounds on what one call of Parse may cost.
const (
	// maxInput is the longest text, in bytes. A COPY is the way to send more.
	maxInput = 64 << 20
	// maxTokens is the most tokens that one fragment may hand to TiDB's grammar.
	maxTokens = 2_000_000
	// maxDepth is the deepest nesting of parentheses, subqueries and operators.
	maxDepth = 1_000
	// maxChain is the most operators in a row at one level: a + b + c + ....
	maxChain = 10_000
	// maxHeight is the tallest tree of a fragment. Everything behind the parser recurses
	// down the tree, so this bounds its stack.
	maxHeight = 20_000
	// maxParam is the highest parameter number of the wire protocol.
	maxParam = 65_535
)
