# cargo-chef builds dependencies in a layer of their own, which is rebuilt only when Cargo.lock changes.
FROM rust:1.95-bookworm AS chef
WORKDIR /build
RUN cargo install --locked cargo-chef@0.1.73

FROM chef AS plan
COPY . .
RUN cargo chef prepare --recipe-path recipe.json

FROM chef AS build
COPY --from=plan /build/recipe.json recipe.json
RUN cargo chef cook --locked --profile dist --recipe-path recipe.json
# .dockerignore admits only files that the build reads.
COPY . .
RUN cargo build --locked --profile dist --bin convfinqa

FROM debian:bookworm-slim AS app
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates curl \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --create-home --home-dir /app convfinqa \
    && install --directory --owner=convfinqa /app/output /app/data
COPY --from=build /build/target/dist/convfinqa /usr/local/bin/convfinqa
USER 10001
WORKDIR /app
ENTRYPOINT ["convfinqa"]
