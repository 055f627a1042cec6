"""Gemma 3 beside the one of ``transformers``."""

import pytest
import torch

from helpers.data import corpora
from helpers.inference.cached_predictor import CachedPredictor
from helpers.models.gemma import Gemma, GemmaConfig
from helpers.pretrained.gemma import PARTS, GemmaTokenizer, load_gemma, neighbours
from helpers.pretrained.store import find

SMALL = GemmaConfig(
    vocab_size=50, max_length=64, n_layers=6, n_heads=4, n_kv_heads=2, d_model=24, d_head=8,
    d_hidden=40, window=5, global_every=3,
)  # fmt: skip


def theirs_of(config):
    """A model of ``transformers`` of the same sizes, with random weights."""
    transformers = pytest.importorskip("transformers")
    settings = transformers.Gemma3TextConfig(
        vocab_size=config.vocab_size, max_position_embeddings=config.max_length,
        num_hidden_layers=config.n_layers, num_attention_heads=config.n_heads,
        num_key_value_heads=config.n_kv_heads, hidden_size=config.d_model,
        head_dim=config.d_head, intermediate_size=config.d_hidden, sliding_window=config.window,
        query_pre_attn_scalar=config.d_head, rope_theta=config.global_base,
        rope_local_base_freq=config.local_base, attn_implementation="eager",
        layer_types=[
            "sliding_attention" if (i + 1) % config.global_every else "full_attention"
            for i in range(config.n_layers)
        ],
    )  # fmt: skip
    torch.manual_seed(0)
    model = transformers.Gemma3ForCausalLM(settings).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.3)
    return model


THEIRS = {
    "attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj", "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm", "attn_output": "self_attn.o_proj",
    "post_attention_norm": "post_attention_layernorm", "ffn_norm": "pre_feedforward_layernorm",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
    "post_ffw_norm": "post_feedforward_layernorm",
}  # fmt: skip


def ours_from(theirs, config):
    """The course's Gemma with the weights of theirs, whose norms keep the gain less 1."""
    state = {
        name.removeprefix("model."): tensor + ("norm" in name)
        for name, tensor in theirs.state_dict().items()
    }
    mine = {"embedding.weight": state["embed_tokens.weight"], "norm.weight": state["norm.weight"]}
    mine["output.weight"] = mine["embedding.weight"]
    for layer in range(config.n_layers):
        for name, part in PARTS.items():
            tensor = state[f"layers.{layer}.{THEIRS[name]}.weight"]
            turned = name in {"attn_q", "attn_k", "attn_q_norm", "attn_k_norm"}
            mine[f"blocks.{layer}.{part}.weight"] = (
                neighbours(tensor, config.d_head) if turned else tensor
            )
    model = Gemma(config).eval()
    model.load_state_dict(mine)
    return model


@torch.no_grad()
def test_logits_are_those_of_transformers_within_and_past_the_window():
    theirs = theirs_of(SMALL)
    ours = ours_from(theirs, SMALL)
    tokens = torch.randint(50, (3, 23), generator=torch.Generator().manual_seed(1))
    expected = theirs(tokens).logits
    assert expected.std() > 0.5
    torch.testing.assert_close(ours(tokens), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("steps", [[23], [1] * 23, [4, 1, 1, 7, 10], [12, 11]])
@torch.no_grad()
def test_with_the_cache_the_logits_are_the_same(steps):
    torch.manual_seed(0)
    model = Gemma(SMALL).eval()
    tokens = torch.randint(50, (2, 23))
    state, parts = None, []
    for part in tokens.split(steps, 1):
        logits, state = model.read(part, state)
        parts.append(logits)
    torch.testing.assert_close(torch.cat(parts, 1), model(tokens), rtol=1e-4, atol=1e-5)


def test_the_logits_behind_the_last_token_can_be_had_alone():
    torch.manual_seed(0)
    model, tokens = Gemma(SMALL).eval(), torch.randint(50, (2, 5))
    logits, state = model.read(tokens)
    alone, the_same = model.read(tokens, last=True)
    torch.testing.assert_close(alone, logits[:, -1:])
    assert the_same.length == state.length == 5


def test_the_predictor_of_a_gpt_reads_it():
    torch.manual_seed(0)
    model = Gemma(SMALL).eval()
    tokens = torch.randint(50, (20,))
    log_p = CachedPredictor(model, bos=2).log_probs(tokens)
    read = torch.cat([torch.tensor([2]), tokens[:-1]])
    expected = model(read[None]).double().log_softmax(-1)[0].gather(1, tokens[:, None])[:, 0]
    torch.testing.assert_close(log_p, expected, rtol=1e-4, atol=1e-4)


def test_the_tokenizer_joins_by_score_and_writes_unknown_signs_as_bytes():
    tokens = ["<bos>", "a", "b", "▁", "ab", "▁a", "▁ab", "  ", "<x>"]
    tokens += [f"<0x{byte:02X}>" for byte in range(256)]
    scores = [0, 0, 0, 0, -1, -2, -3, 0, 0] + [0] * 256
    kinds = [3, 1, 1, 1, 1, 1, 1, 4, 3] + [6] * 256
    tokenizer = GemmaTokenizer(tokens, scores, kinds, bos=0)
    assert tokenizer.pieces(tokenizer.encode("ab ab")) == ["<bos>", "ab", "▁ab"]
    assert tokenizer.pieces(tokenizer.encode("  aé", bos=False)) == ["  ", "a", "<0xC3>", "<0xA9>"]
    assert tokenizer.pieces(tokenizer.encode("a   b", bos=False)) == ["a", "  ", "▁", "b"]
    assert 8 not in tokenizer.encode("<x>")  # tokens for control are not made by text
    for text in ("ab  ab é", "", "   ", "<x>ba"):
        assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.pretrained
def test_runs_of_spaces_and_line_ends_are_tokens_of_their_own():
    folder = find("gemma")
    assert folder is not None
    tokenizer = GemmaTokenizer.from_gguf(folder / "gemma-3-270m.gguf")
    for run in [" " * n for n in range(2, 32)] + ["\n" * n for n in range(1, 32)]:
        (token,) = tokenizer.encode(run, bos=False)
        assert tokenizer.pieces([token]) == [run]
        assert tokenizer.pieces(tokenizer.encode(f"a{run}b", bos=False)) == ["a", run, "b"]
    code = "for i in range(10):\n    print(i)"
    pieces = tokenizer.pieces(tokenizer.encode(code, bos=False))
    assert pieces[-6:] == ["\n", "    ", "print", "(", "i", ")"]
    assert len(pieces) == 14
    assert tokenizer.decode(tokenizer.encode(code)) == code


@pytest.mark.pretrained
@torch.no_grad()
def test_gemma_3_is_that_of_transformers():
    folder = find("gemma")
    assert folder is not None
    path = folder / "gemma-3-270m.gguf"
    model, tokenizer = load_gemma(path), GemmaTokenizer.from_gguf(path)
    theirs = theirs_of(model.config)
    state = model.state_dict()
    mine = theirs.state_dict()
    back = {}
    for name in mine:
        short = name.removeprefix("model.")
        if short in ("embed_tokens.weight", "lm_head.weight"):
            back[name] = state["embedding.weight"]
        elif short == "norm.weight":
            back[name] = state["norm.weight"] - 1
        else:
            _, layer, rest = short.split(".", 2)
            gguf_name = next(n for n, t in THEIRS.items() if rest == f"{t}.weight")
            tensor = state[f"blocks.{layer}.{PARTS[gguf_name]}.weight"]
            if gguf_name in {"attn_q", "attn_k", "attn_q_norm", "attn_k_norm"}:
                K = model.config.d_head
                pairs = tensor.unflatten(0, (-1, K // 2, 2))
                tensor = pairs.transpose(1, 2).flatten(0, 2)
            back[name] = tensor - 1 if "norm" in rest else tensor
    theirs.load_state_dict(back)
    stories = corpora.lantern_bay().test
    texts = [stories[i * 1000 : i * 1000 + 60 * i + 20] for i in range(14)] + [
        "The capital of France is", "2 + 2 = 4\n3 + 5 = 8\n7 + 6 =", "straße 你好 unbelievably",
        "हिन्दी में एक वाक्य।", "def f(x):\n    return x", stories[:3000],
    ]  # fmt: skip
    for text in texts:
        tokens = torch.tensor([tokenizer.encode(text)])
        torch.testing.assert_close(model(tokens), theirs(tokens).logits, rtol=0, atol=1e-3)
    assert tokens.shape[1] > model.config.window  # the last is longer than the window
