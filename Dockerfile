# mcp-keel with what servers need to boot: Node, Python with uv, git, CA certificates. `--target bare` is the binary alone.
#
# Every base is named by an argument, so that a release pins them by digest and an offline build brings its own. The base
# is Debian trixie: its glibc is at least as new as that of GitHub's runners, so that a server that was built there runs here.
ARG RUST=docker.io/library/rust:1.95-trixie
ARG NODE=docker.io/library/node:24-trixie-slim
ARG UV=ghcr.io/astral-sh/uv:0.13
# `build` compiles here; `prebuilt` takes dist/ARCHITECTURE/mcp-keel from the context, as a release does.
ARG BINARY=build

FROM ${RUST} AS binary-build
WORKDIR /source
COPY Cargo.toml Cargo.lock ./
COPY crates crates
COPY src src
COPY docs/schema docs/schema
COPY fixtures/demo fixtures/demo
COPY fixtures/rules fixtures/rules
COPY examples examples
RUN cargo build --locked --profile dist --bin mcp-keel && cp target/dist/mcp-keel /mcp-keel

FROM scratch AS binary-prebuilt
ARG TARGETARCH=amd64
COPY --chmod=755 dist/${TARGETARCH}/mcp-keel /mcp-keel

FROM binary-${BINARY} AS binary

FROM ${UV} AS uv

# The binary alone. A released one is static and needs nothing else; the roots for TLS are the caller's to bring.
FROM scratch AS bare
COPY --from=binary /mcp-keel /mcp-keel
ARG VERSION=unreleased
ARG REVISION=unknown
LABEL org.opencontainers.image.title="mcp-keel" \
      org.opencontainers.image.description="Keeps an MCP server's contract from drifting: the binary alone" \
      org.opencontainers.image.source="https://github.com/mcp-keel/mcp-keel" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
HEALTHCHECK NONE
ENTRYPOINT ["/mcp-keel"]

FROM ${NODE} AS action
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends ca-certificates git python3 \
    && rm -rf /var/lib/apt/lists/* \
    # The owner of a workspace on GitHub's runners, as whom servers run: programs ask for the name of their user.
    && useradd --uid 1001 --no-create-home --shell /usr/sbin/nologin runner
COPY --from=uv /uv /uvx /usr/local/bin/
COPY --from=binary /mcp-keel /usr/local/bin/mcp-keel
# Smoke test: an image in which any of them does not start is not built.
RUN mcp-keel --version && mcp-keel demo --quiet && node --version && npm --version && python3 --version && uv --version \
    && git --version
ARG VERSION=unreleased
ARG REVISION=unknown
LABEL org.opencontainers.image.title="mcp-keel" \
      org.opencontainers.image.description="Keeps an MCP server's contract from drifting" \
      org.opencontainers.image.source="https://github.com/mcp-keel/mcp-keel" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# No USER: the runner mounts a workspace that belongs to another user, and GitHub asks container actions to run as root.
HEALTHCHECK NONE
ENTRYPOINT ["mcp-keel"]
