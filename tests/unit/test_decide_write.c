/* SPDX-License-Identifier: MIT
 * Conditional writes: what is written at a call, by its literals, its types and its module. */
#include "decide_world.h"

typedef struct WriteCase {
	const char *code;
	const char *arg; /* entry of `mutates` */
	Tri want;
	const char *words;
	const char *mode, *ctor;
	Version torch;
} WriteCase;

static Decision decide_case(World *w, const WriteCase *c)
{
	VersionSpan torch = {c->torch, c->torch};
	Made m = graph_make(w, c->code);
	m.mode = c->mode;
	m.ctor = c->ctor;
	graph_types(w, &m);
	const Fact *f = fact_of(w, &m, torch);
	if (!f)
		fail_msg("%s: no fact", c->code);
	for (uint32_t i = 0; i < f->nmutates; i++)
		if (str_eq(sym_str(&w->names, f->mutates[i].name), str_from_c(c->arg))) {
			DecideCtx ctx = ctx_of(w, &m, torch);
			return decide_write(&ctx, m.last, f, &f->mutates[i]);
		}
	fail_msg("%s: no entry %s", c->code, c->arg);
	return (Decision){0};
}

static void check_words(const WriteCase *c, const Decision *d)
{
	Str words = d->condition.n ? d->condition : d->because;
	if (c->words && !str_eq(words, str_from_c(c->words)))
		fail_msg("%s: '" STR_FMT "'", c->code, STR_ARG(words));
	if (d->writes == TRI_MAY && !d->condition.n)
		fail_msg("%s: may without a condition", c->code);
}

static void writes(void **state)
{
#define F "r = function torch.nn.functional."
	static const WriteCase cases[] = {
		{F "batch_norm(x, any, any2, None, None, True, 0.1, 1e-05)", "running_mean", TRI_MUST,
	     "training is True", 0, 0, 0},
		{F "batch_norm(x, any, any2, None, None, False, 0.1, 1e-05)", "running_var", TRI_NO,
	     "training is False", 0, 0, 0},
		{F "batch_norm(x, any, any2)", "running_mean", TRI_NO, 0, 0, 0, 0},
		{F "batch_norm(x, any, any2, training=n)", "running_mean", TRI_MAY, "training is True", 0,
	     0, 0},
		{F "batch_norm(x, None, None, training=True)", "running_mean", TRI_NO,
	     "running_mean is None", 0, 0, 0},
		{"r = function torch.ops.aten.native_batch_norm.default(x, i, i, d, d, True, 0.1, 1e-05)",
	     "running_mean", TRI_MUST, 0, 0, 0, 0},
		{"r = function torch.ops.aten.native_batch_norm.out(x, i, i, d, d, False, 0.1, 1e-05, "
	     "out=x)",
	     "running_mean", TRI_NO, 0, 0, 0, 0},
		{F "instance_norm(x, d, d, None, None, True, 0.1, 1e-05)", "running_mean", TRI_MUST, 0, 0,
	     0, 0},
		{F "instance_norm(x, d, d)", "running_mean", TRI_MUST, 0, 0, 0, 0},
		{F "instance_norm(x, d, d, use_input_stats=False)", "running_mean", TRI_NO, 0, 0, 0, 0},
		{F "instance_norm(x, d, d, use_input_stats=any)", "running_mean", TRI_MAY, 0, 0, 0, 0},
		{F "relu(x, inplace=True)", "input", TRI_MUST, 0, 0, 0, 0},
		{F "relu(x)", "input", TRI_NO, 0, 0, 0, 0},
		{F "relu(x, any)", "input", TRI_MAY, "inplace is True", 0, 0, 0},
		{F "leaky_relu(x, 0.1, True)", "input", TRI_MUST, 0, 0, 0, 0},
		{F "dropout(x, 0.5, True, True)", "input", TRI_MUST, 0, 0, 0, 0},
		{F "dropout(x, 0.5, True, False)", "input", TRI_NO, "inplace is False", 0, 0, 0},
		{F "dropout(x, 0.0, True, True)", "input", TRI_NO, "p is 0", 0, 0, 0},
		{F "dropout(x, 0.5, False, True)", "input", TRI_NO, "training is False", 0, 0, 0},
		{F "dropout(none3, 0.5, True, True)", "input", TRI_NO, 0, 0, 0, 0},
		{F "dropout(x, any, True, True)", "input", TRI_MAY, "p is not 0", 0, 0, 0},
		{F "dropout(x, any, True, any2)", "input", TRI_MAY, "p is not 0 and inplace is True", 0, 0,
	     0},
		{F "alpha_dropout(x, inplace=True)", "input", TRI_NO, 0, 0, 0, 0},
		{"r = function torch.dropout_(x, 0.5, True)", "input", TRI_MUST, 0, 0, 0, 0},
		{"r = function torch.dropout_(x, 0.5, False)", "input", TRI_NO, 0, 0, 0, 0},
		{"r = function torch.ops.aten.alpha_dropout_.default(x, 0.5, any)", "self", TRI_MAY,
	     "training is True", 0, 0, 0},
		{"r = module Dropout(x)", "input", TRI_MUST, 0, "train", "p=0.5, inplace=True", 0},
		{"r = module Dropout(x)", "input", TRI_NO, 0, "train", "p=0.0, inplace=True", 0},
		{"r = module Dropout2d(x)", "input", TRI_NO, 0, "train", "p=0.0, inplace=True", 0},
		{"r = module Dropout(x)", "input", TRI_MAY, "the module is in train mode", 0,
	     "p=0.5, inplace=True", 0},
		{F "embedding(i, x, None, 1.0)", "weight", TRI_MUST, 0, 0, 0, 0},
		{F "embedding(i, x, None, None, 2.0, False, False)", "weight", TRI_NO,
	     "max_norm is not given", 0, 0, 0},
		{F "embedding_bag(i, x)", "weight", TRI_NO, 0, 0, 0, 0},
		{F "embedding_bag(i, x, max_norm=2.0)", "weight", TRI_MUST, 0, 0, 0, 0},
		{"r = function torch._fused_adam_([x], [x], [x], [x], [x], [x], amsgrad=True, lr=0.1, "
	     "beta1=0.9, "
	     "beta2=0.9, weight_decay=0.0, eps=1e-08, maximize=False)",
	     "max_exp_avg_sqs", TRI_MUST, 0, 0, 0, 0},
		{"r = function torch._fused_adam_([x], [x], [x], [x], [x], [x], amsgrad=False, lr=0.1, "
	     "beta1=0.9, "
	     "beta2=0.9, weight_decay=0.0, eps=1e-08, maximize=False)",
	     "max_exp_avg_sqs", TRI_NO, 0, 0, 0, 0},
		{"r = function torch._fused_adam_([x], [x], [x], [x], [x], [x], amsgrad=any, lr=0.1, "
	     "beta1=0.9, "
	     "beta2=0.9, weight_decay=0.0, eps=1e-08, maximize=False, grad_scale=zero)",
	     "max_exp_avg_sqs", TRI_MAY, 0, 0, 0, 0},
		{"r = function torch._fused_sgd_([x], [x], [], weight_decay=0.0, momentum=0.0, lr=0.1, "
	     "dampening=0.0, "
	     "nesterov=False, maximize=False, is_first_step=True, grad_scale=zero)",
	     "grads", TRI_MUST, 0, 0, 0, 0},
		{"r = function torch._fused_sgd_([x], [x], [], weight_decay=0.0, momentum=0.0, lr=0.1, "
	     "dampening=0.0, "
	     "nesterov=False, maximize=False, is_first_step=True)",
	     "grads", TRI_NO, 0, 0, 0, 0},
		{"r = method cov(one, fweights=i)", "self", TRI_MUST, 0, 0, 0, 211},
		{"r = method cov(zero, aweights=i)", "self", TRI_MUST, 0, 0, 0, 215},
		{"r = method cov(x, fweights=i)", "self", TRI_NO, 0, 0, 0, 211},
		{"r = method cov(one)", "self", TRI_NO, 0, 0, 0, 211},
		{"r = method cov(one, fweights=i, aweights=i)", "self", TRI_NO, 0, 0, 0, 211},
		{"r = method cov(any, fweights=i)", "self", TRI_MAY, "any holds a single observation", 0, 0,
	     211},
		{"r = method cov(one, fweights=i)", "self", TRI_MAY, "PyTorch is 2.11 or later", 0, 0, 0},
		{"r = function torch.cov(dyn, fweights=i)", "input", TRI_NO, 0, 0, 0, 213},
		{"r = function torch__dynamo_utils_wrapped_cov(one, None, True, False, None, i)", "m",
	     TRI_NO, 0, 0, 0, 213},
		{"r = function torch__dynamo_utils_wrapped_sort(x)", "a", TRI_MUST, 0, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_sort(x) : f32[3, 4][4, 1]cpu", "a", TRI_NO, 0, 0,
	     0, 0},
		{"r = function torch__dynamo_utils_wrapped_sort(any)", "a", TRI_MAY, 0, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_resize(x, (2, 6))", "a", TRI_MUST, 0, 0, 0, 0},
		{"r = module BatchNorm2d(nchw)", "running_mean", TRI_MUST, 0, "train",
	     "4, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True", 0},
		{"r = module BatchNorm2d(nchw)", "running_mean", TRI_NO, 0, "train",
	     "4, eps=1e-05, momentum=0.1, affine=True, track_running_stats=False", 0},
		{"r = module BatchNorm2d(nchw)", "running_var", TRI_MAY, "the module is in train mode", 0,
	     "4, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True", 0},
		{"r = module BatchNorm1d(x)", "running_var", TRI_MAY,
	     "the module tracks running statistics", "train", 0, 0},
		{"r = module InstanceNorm2d(nchw)", "running_mean", TRI_NO, 0, "train",
	     "4, eps=1e-05, momentum=0.1, affine=False, track_running_stats=False", 0},
		{"r = module InstanceNorm2d(nchw)", "running_mean", TRI_MAY, 0, "eval",
	     "4, eps=1e-05, momentum=0.1, affine=False, track_running_stats=True", 206},
		{"r = module Embedding(i)", "weight", TRI_NO, 0, "eval", "10, 4", 0},
		{"r = module Embedding(i)", "weight", TRI_MUST, 0, "eval", "10, 4, max_norm=1.0", 0},
		{"r = module Embedding(i)", "weight", TRI_MAY, "max_norm is given", "eval", 0, 0},
		{"r = function torch.ops._c10d_functional.batch_p2p_ops.default(['isend', 'isend'], [1, "
	     "1], [0, 0], "
	     "[x, x], 'g')",
	     "tensors", TRI_NO, 0, 0, 0, 0},
		{"r = function torch.ops._c10d_functional.batch_p2p_ops.default(['irecv'], [1], [0], [x], "
	     "'g')",
	     "tensors", TRI_MUST, 0, 0, 0, 0},
		{"r = function torch.ops._c10d_functional.batch_p2p_ops.default(['isend', 'irecv'], [1, "
	     "1], [0, 0], "
	     "[x, x], 'g')",
	     "tensors", TRI_MAY, 0, 0, 0, 0},
		{"r = function torch.batch_norm_gather_stats(x, d, d, d, d, 0.1, 1e-05, 4)", "running_mean",
	     TRI_MAY, 0, 0, 0, 0},
		{"r = function torch.batch_norm_gather_stats(x, d, d, None, None, 0.1, 1e-05, 4)",
	     "running_mean", TRI_NO, 0, 0, 0, 0},
		{"r = function torch__dynamo_compiled_autograd_ops_AccumulateGrad([x], d, d)",
	     "variable_grad", TRI_MAY, 0, 0, 0, 0},
	};
#undef F
	World *w = *state;
	for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const WriteCase *c = &cases[i];
		Decision d = decide_case(w, c);
		if (d.writes != c->want)
			fail_msg("%s (%s): got %d, want %d ('" STR_FMT "' '" STR_FMT "')", c->code, c->arg,
			         d.writes, c->want, STR_ARG(d.condition), STR_ARG(d.because));
		check_words(c, &d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(writes)};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, world_make, world_free);
}
